from django.db import migrations

# A passage of a revision that was replaced stands under the title that this had.
VIEW = """
drop view memories_passagetext;
create view memories_passagetext with (security_invoker = true) as
select p.id, p.workspace_id as tenant_id, d.subject_id, d.agent_id, null::uuid as conversation_id,
       d.visibility, d.id as document_id, r.id as revision_id, p.chunk_id, p.ordinal,
       p.start, p."end", substr(r.text, p.start + 1, p."end" - p.start) as content,
       d.type,
       case when r.superseded_at is null or r.title = '' then d.title else r.title end as title,
       d.url, d.custom_id, d.source, d.metadata, r.author, r.language,
       r.published_at, coalesce(r.published_at, d.created_at) as occurred_at,
       r.created_at as known_from, r.superseded_at, p.created_at, d.updated_at
from memories_passage p
join memories_revision r on r.id = p.revision_id
join memories_document d on d.id = r.document_id;
"""
BEFORE = """
drop view memories_passagetext;
create view memories_passagetext with (security_invoker = true) as
select p.id, p.workspace_id as tenant_id, d.subject_id, d.agent_id, null::uuid as conversation_id,
       d.visibility, d.id as document_id, r.id as revision_id, p.chunk_id, p.ordinal,
       p.start, p."end", substr(r.text, p.start + 1, p."end" - p.start) as content,
       d.type, d.title, d.url, d.custom_id, d.source, d.metadata, r.author, r.language,
       r.published_at, coalesce(r.published_at, d.created_at) as occurred_at,
       r.created_at as known_from, r.superseded_at, p.created_at, d.updated_at
from memories_passage p
join memories_revision r on r.id = p.revision_id
join memories_document d on d.id = r.document_id;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0027_split_subjects")]

    operations = [migrations.RunSQL(VIEW, BEFORE)]
