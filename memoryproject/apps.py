from django.contrib.admin import apps


class AdminConfig(apps.AdminConfig):
    """Django's admin with our own site: members log in, not only staff."""

    default_site = "workspaces.adminbase.site.MemberSite"
