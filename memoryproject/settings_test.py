"""Settings of the tests: a separate database folder that need not survive a crash, and no outside
service."""

from memoryproject.postgres import databases
from memoryproject.postgres.embedded_postgres import Home
from memoryproject.settings import *  # noqa: F403
from memoryproject.settings import DATA_DIR, DATABASE_URL

DATA_DIR = DATA_DIR / "test"
BLOB_DIR = DATA_DIR / "blobs"
if not DATABASE_URL:
    EMBEDDED_POSTGRES = Home.below(DATA_DIR, fast=True)
    DATABASES = {"default": databases.embedded(DATA_DIR, "owner")}

DATABASE_REPLICA_URL = ""

DEBUG = False
SECRET_KEY = "tests only, never in use elsewhere"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Whatever the developer's shell sets, tests begin without keys and with the deterministic embedder.
EMBEDDING_PROVIDER = "hash"
EMBEDDING_MODEL = EMBEDDING_FOLDER = RERANK_FOLDER = ""
EMBEDDING_DIMENSIONS = 0
EXTRACTION_PROVIDER = "auto"
EXTRACTION_MODEL = "claude-haiku-4-5"
CHAT_PROVIDER = "auto"
CHAT_MODEL = ""
PROVIDER_TIMEOUT = QUERY_TIMEOUT = RERANK_TIMEOUT = 60.0  # a busy machine is slow, not wrong
RERANK_PROVIDER = "http"
RERANK_BASE_URL = RERANK_MODEL = RERANK_API_KEY = ""
EXTRACTOR_ALLOWED_HOSTS = WEBHOOK_ALLOWED_HOSTS = ["localhost"]
FETCH_ALLOWED_HOSTS = ["localhost"]
CONNECTION_FOLDERS = []
CONNECTION_ADDRESSES = []
QUERY_CACHE_SECONDS = 0
METRICS_TOKEN = ""
OPENAI_API_KEY = OPENAI_BASE_URL = ANTHROPIC_API_KEY = ANTHROPIC_BASE_URL = ""
