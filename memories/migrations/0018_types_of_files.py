"""What a document is that came as a file of an office, as mail, as an e-book or as an archive."""

from django.db import migrations, models

TYPES = (
    "text",
    "pdf",
    "tweet",
    "google_doc",
    "google_slide",
    "google_sheet",
    "image",
    "video",
    "notion_doc",
    "webpage",
    "onedrive",
    "repository",
    "document",
    "spreadsheet",
    "presentation",
    "email",
    "ebook",
    "archive",
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0017_clocks_of_speakers")]

    operations = [
        migrations.AlterField(
            "document",
            "type",
            models.CharField(
                choices=[(name, name.replace("_", " ").title()) for name in TYPES], default="text", max_length=12
            ),
        ),
    ]
