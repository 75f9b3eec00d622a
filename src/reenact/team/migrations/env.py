"""The script that Alembic runs, with the connection that `schema.ready` holds."""  # noqa: INP001 - run by Alembic, never imported

from alembic import context

from reenact.team.tables import META

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=META,
    include_schemas=True,
    version_table_schema=META.schema,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
