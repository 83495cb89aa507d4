"""People at the admin: a browser without a browser."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse

from tests.factories import MembershipFactory, UserFactory
from workspaces.models import Role, User, Workspace


@dataclass(frozen=True)
class Desk:
    """Somebody who is logged in."""

    user: User
    client: Client

    def sees(self, page: str, **query: str) -> str:
        """The HTML of a page that must open."""
        answer = self.client.get(page, query)
        assert answer.status_code == 200, f"{page}: {answer.status_code}"
        return answer.content.decode()

    def status(self, page: str) -> int:
        return self.client.get(page).status_code

    def does(self, row: Model, verb: str, **fields: Any) -> Any:
        """Press a button on the page of `row`; the answer, redirects followed."""
        name = f"admin:{row._meta.app_label}_{row._meta.model_name}_do"
        return self.client.post(reverse(name, args=[row.pk, verb]), fields, follow=True)

    def acts(self, model: type[Model], verb: str, *rows: Model) -> Any:
        """Choose rows of a list and do something to all of them."""
        chosen = {"action": verb, "_selected_action": [str(row.pk) for row in rows]}
        return self.client.post(list_of(model), chosen, follow=True)


def desk_of(user: User) -> Desk:
    client = Client()
    client.force_login(user)
    return Desk(user, client)


def member(workspace: Workspace, role: str = Role.OWNER, **person: Any) -> Desk:
    return desk_of(MembershipFactory(workspace=workspace, role=role, user=UserFactory(**person)).user)


def superuser() -> Desk:
    return desk_of(UserFactory(is_superuser=True, is_staff=True))


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def page_of(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def messages_of(answer: Any) -> str:
    return " ".join(str(each) for each in answer.context["messages"])
