"""All settings, flat. The environment is read through the strict readers of env.py and nowhere
else."""

import sys
from pathlib import Path
from typing import Any

from django.urls import reverse_lazy

from memoryproject import local_sockets
from memoryproject.env import (
    env_bool,
    env_default,
    env_float,
    env_int,
    env_list,
    env_secret,
    env_str,
    kept_secret,
    user_data_folder,
)
from memoryproject.log_lines import JSONLines, TextLines, with_context, without_trace_of_refusals
from memoryproject.postgres import databases
from memoryproject.postgres.embedded_postgres import Home
from memoryproject.server.front.lanes import API
from memoryproject.server.front.presented import SESSION_COOKIE
from memoryproject.server.static_files import own_file

# In a checkout, templates and styles lie beside the packages; a wheel has them in this one.
PACKAGE = Path(__file__).resolve().parent
BASE_DIR = PACKAGE.parent
IS_INSTALLED = (PACKAGE / "templates").is_dir()
FILES = PACKAGE if IS_INSTALLED else BASE_DIR
# The words before the name of a command, for whoever runs this server, in any folder.
COMMAND = (f"{sys.prefix}/bin/memoryproject",) if IS_INSTALLED else ("python3", f"{BASE_DIR}/manage.py")

# All state of this installation: the embedded database, secrets made on first use.
_data = user_data_folder("memoryproject") if IS_INSTALLED else BASE_DIR / ".data"
DATA_DIR = Path(env_str("MEMORY_DATA_DIR", str(_data))).expanduser().resolve()

# Several processes share the machine: the threads of numpy's products would wait for each other in
# a spin loop, which costs a batch of a thousand facts a third of its time.
env_default("OPENBLAS_NUM_THREADS", "1")

# Security
DEBUG = env_bool("DEBUG")
SECRET_KEY = env_secret("SECRET_KEY") or kept_secret(DATA_DIR / "secret_key")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
# Set when a proxy in front speaks TLS, and sets X-Forwarded-Proto and X-Forwarded-For itself.
BEHIND_TLS_PROXY = env_bool("BEHIND_TLS_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS_PROXY else None
SECURE_SSL_REDIRECT = BEHIND_TLS_PROXY
# Probes come here directly, not through the proxy; for keys, PlainHttpMiddleware decides.
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$", *(f"^{path[1:]}" for path in API)]
HSTS_SECONDS = env_int("HSTS_SECONDS", 31_536_000)
SECURE_HSTS_SECONDS = HSTS_SECONDS if BEHIND_TLS_PROXY else 0
# Only the domain's owner can decide on subdomains, and on whether browsers list it.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Hours after the last request; with "__Host-" a browser takes a cookie from this very host only.
SESSION_COOKIE_AGE = env_int("SESSION_IDLE_HOURS", 12, minimum=1, maximum=24 * 14) * 3600
SESSION_ENGINE = "workspaces.login.browser_sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS_PROXY
_host = "__Host-" if BEHIND_TLS_PROXY else ""
SESSION_COOKIE_NAME = SESSION_COOKIE[BEHIND_TLS_PROXY]
CSRF_COOKIE_NAME = f"{_host}csrftoken"
KNOWN_BROWSER_COOKIE = f"{_host}knownbrowser"
AUTH_USER_MODEL = "workspaces.User"
AUTHENTICATION_BACKENDS = ["workspaces.login.passwords.ThrottledBackend"]
# The first makes new hashes; the second reads old ones, which are replaced at the next login.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "workspaces.login.passwords.GuessableWordsValidator"},
]
# What counts lies above the package that is counted.
LOGIN_COUNTER = "memories.metrics.count"
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

# Applications
INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # without it, unfold would put its own site in the place of ours
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "memoryproject.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_q",
    "workspaces",
    "memories",
    # Trials and benchmarks: in the repository, not in what is installed.
    *(["bench"] if not IS_INSTALLED and (BASE_DIR / "bench" / "apps.py").is_file() else []),
]
MIDDLEWARE = [
    "workspaces.middleware.PrefixMiddleware",
    "workspaces.middleware.RequestIdMiddleware",
    "workspaces.middleware.PageHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "workspaces.middleware.PlainHttpMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memories.api.metrics_page.MeasuringMiddleware",
    "workspaces.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "workspaces.middleware.AuthenticationMiddleware",
    "workspaces.middleware.TimeZoneMiddleware",
    "workspaces.middleware.LookedAtMiddleware",
    "workspaces.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "memoryproject.urls"
WSGI_APPLICATION = "memoryproject.wsgi.application"
APPEND_SLASH = False  # the API's routes have no slash at their end; admin redirects by itself
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# What this process is for: `up` says so to its children. Commands wait as long as it takes.
PROCESS_KIND = env_str("PROCESS_KIND", "command", choices=("web", "worker", "command"))

# Database: the server that DATABASE_URL names, else an embedded one below DATA_DIR. The owner
# migrates; web and worker use the ordinary role (`up` starts them with DATABASE_ROLE=app).
DATABASE_ROLE = env_str("DATABASE_ROLE", "owner", choices=("owner", "app"))
DATABASE_URL = env_secret("DATABASE_URL")
APP_DATABASE_URL = env_secret("APP_DATABASE_URL")
# A streaming replica that answers reads, as long as it lags behind by no more seconds.
DATABASE_REPLICA_URL = env_secret("DATABASE_REPLICA_URL")
DATABASE_REPLICA_LAG = env_float("DATABASE_REPLICA_LAG", 10.0, minimum=1.0, maximum=3600.0)
EMBEDDED_POSTGRES = None if DATABASE_URL else Home.below(DATA_DIR)
# Seconds; 0: no end. The last two are those of web processes: the worker's are minutes, and
# commands have none.
DATABASE_CONNECT_TIMEOUT = env_int("DATABASE_CONNECT_TIMEOUT", 5, minimum=2, maximum=600)
DATABASE_STATEMENT_TIMEOUT = env_float("DATABASE_STATEMENT_TIMEOUT", 20.0, maximum=3600.0)
DATABASE_LOCK_TIMEOUT = env_float("DATABASE_LOCK_TIMEOUT", 10.0, maximum=3600.0)
# How prepared statements are planned: once for all values, or as PostgreSQL thinks best, which a
# distributed server (Citus) needs.
DATABASE_PLANS = env_str("DATABASE_PLANS", "generic", choices=("generic", "auto"))
DATABASE_LIMITS = databases.limits_of(
    PROCESS_KIND, DATABASE_CONNECT_TIMEOUT, DATABASE_STATEMENT_TIMEOUT, DATABASE_LOCK_TIMEOUT
)
DATABASES = {
    "default": databases.external(DATABASE_URL, APP_DATABASE_URL, DATABASE_ROLE, DATABASE_LIMITS)
    if DATABASE_URL
    else databases.embedded(DATA_DIR, DATABASE_ROLE, DATABASE_LIMITS)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Cache: per process on purpose. Nothing that must be shared is kept in it, and a cache in the
# database would add two statements to every request.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# Live entries of a layer from which its vectors get an approximate index. 0: never.
VECTOR_INDEX_FROM = env_int("VECTOR_INDEX_FROM", 20_000, maximum=1_000_000_000)

# Language and time
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "memoryproject.formats"
LOCALE_PATHS = [BASE_DIR / "locale"]  # `makemessages` begins a language there

# Static files: served from the installed packages, so no step collects them.
STATIC_URL = "/static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "memoryproject.server.static_files.PrefixedStaticFiles"},
}
STATICFILES_DIRS = [FILES / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 0 if DEBUG else 300  # seconds that a page may look old after an upgrade

# Admin: colours are in static/memoryproject/desk.css
UNFOLD = {
    "SITE_TITLE": "memoryproject",
    "SITE_HEADER": "memoryproject",
    "SITE_SUBHEADER": "the memory you can check, correct and prove",
    "SITE_URL": None,
    "SITE_ICON": own_file("logo.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "href": own_file("logo.svg"), "type": "image/svg+xml"}],
    "STYLES": [own_file("desk.css")],
    "SCRIPTS": [own_file(f"{name}.js") for name in ("desk", "jump", "work")],
    "SHOW_HISTORY": False,
    "SHOW_BACK_BUTTON": False,
    "BORDER_RADIUS": "6px",
    # All pages are in MENU of memories/admin/navigation.py; a new page adds itself there.
    "SIDEBAR": {"navigation": "memories.admin.navigation.sidebar"},
    "TABS": "memories.admin.navigation.tabs",
    "GLOBAL_CALLBACK": "memories.admin.navigation.context",
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("admin:password_change")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
            {"title": "Time zone", "link": reverse_lazy("admin:time_zone")},
            {"title": "Connected apps", "link": reverse_lazy("oauth_apps")},
            {"title": "Documentation", "link": reverse_lazy("docs")},
        ]
    },
    "DASHBOARD_CALLBACK": "memories.admin.home.home_page.fill",
}

# API
BODY_TIMEOUT = env_float("BODY_TIMEOUT", 20.0, minimum=0.1, maximum=600)
# The most connections of the front; near that number, it closes some of whichever network has most.
MAX_CONNECTIONS = env_int("MAX_CONNECTIONS", 32_768, minimum=64, maximum=1_000_000)
# Limits of the operator; 0: none. Tenants share the server fairly in any case.
RATE_LIMIT_PER_MINUTE = env_int("RATE_LIMIT_PER_MINUTE", 0)
WORKSPACE_RATE_LIMIT_PER_MINUTE = env_int("WORKSPACE_RATE_LIMIT_PER_MINUTE", 0)
ANONYMOUS_RATE_LIMIT_PER_MINUTE = env_int("ANONYMOUS_RATE_LIMIT_PER_MINUTE", 0)
DATA_UPLOAD_MAX_MEMORY_SIZE = env_int("MAX_BODY_BYTES", 10 * 2**20, minimum=1024)
CSRF_FAILURE_VIEW = "workspaces.api.problems.csrf_failure"
# What remembers answers lies above the package that asks for it.
API_IDEMPOTENCY = "memories.api.idempotency.answer_once"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "workspaces.auth.KeyAuthentication",
        "workspaces.auth.MemberAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memories.api.http_errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "memoryproject",
    "DESCRIPTION": "The memory you can check, correct and prove.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "MemberRole": "workspaces.models.Role",
        "Capability": "workspaces.models.Capability",
        "MessageRole": "memories.api.ingest_routes.ROLES",
        "FactType": "memories.models.FactType",
        "Category": "memories.models.Category",
        "MemoryScope": "memories.models.MemoryScope",
        "Visibility": "memories.models.Visibility",
        "SessionState": "memories.models.MemorySession.State",
        "SupersessionState": "memories.models.Supersession.State",
        "KindEnum": "memories.models.Episode.Kind",
        "IntentKind": "memories.models.Intent.Kind",
        "IntentState": "memories.models.Intent.State",
        "ModeEnum": "memories.models.MemorySession.Mode",
        "DocumentMode": "memories.api.document_routes.MODES",
        "ExtractEnum": "memories.models.MemorySession.Extract",
        "DocumentType": "memories.models.Document.Type",
        "DocumentStatus": "memories.api.shapes.STATUSES",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "memories.api.schema_words.complete",
    ],
    # The documentation pages load nothing from other hosts.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Worker: tasks are signals that commit with their rows. A task is acknowledged even if it fails,
# for due work is read from the rows; only a killed worker's task is sent again, after `retry`
# seconds.
Q_CLUSTER = {
    "name": "memoryproject",
    "label": "Tasks",
    "orm": "default",
    "workers": env_int("WORKERS", 2, minimum=1, maximum=64),
    "queue_limit": 2,  # what a killed worker had fetched waits for `retry`: fetch little
    "timeout": 600,
    "retry": 660,
    "poll": 0.2,
    "recycle": 500,
}

# Providers: one whose key is set is used. The names are those of the SDKs.
EMBEDDING_PROVIDER = env_str(
    "EMBEDDING_PROVIDER", "auto", choices=("auto", "local", "openai", "fastembed", "hash", "none")
)
EMBEDDING_MODEL = env_str("EMBEDDING_MODEL")
EMBEDDING_DIMENSIONS = env_int("EMBEDDING_DIMENSIONS", 0, maximum=4000)  # 0: the model's own
EMBEDDING_FOLDER = env_str("EMBEDDING_FOLDER")
# Neural models of this machine: where their process is asked, and what was fetched for it.
MODELS_SOCKET = local_sockets.folder_for(DATA_DIR, "models.sock") / "models.sock"
MODELS_DIR = DATA_DIR / "models"
EXTRACTION_PROVIDER = env_str(
    "EXTRACTION_PROVIDER", "auto", choices=("auto", "anthropic", "openai", "azure", "bedrock", "vertex", "none")
)
EXTRACTION_MODEL = env_str("EXTRACTION_MODEL")  # empty: claude-haiku-4-5, gpt-5-mini, or llama3.2
# The model of the chat: by default that of extraction.
CHAT_PROVIDER = env_str(
    "CHAT_PROVIDER", "auto", choices=("auto", "anthropic", "openai", "azure", "bedrock", "vertex", "none")
)
CHAT_MODEL = env_str("CHAT_MODEL")  # empty: as EXTRACTION_MODEL
# Where a workspace's extractors may be, besides public https addresses: hosts, host:port, networks,
# or *.
EXTRACTOR_ALLOWED_HOSTS = env_list("EXTRACTOR_ALLOWED_HOSTS")
# The same for the webhook addresses of workspaces.
WEBHOOK_ALLOWED_HOSTS = env_list("WEBHOOK_ALLOWED_HOSTS")
OPENAI_API_KEY = env_secret("OPENAI_API_KEY")
OPENAI_BASE_URL = env_str("OPENAI_BASE_URL")
ANTHROPIC_API_KEY = env_secret("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = env_str("ANTHROPIC_BASE_URL")
PROVIDER_TIMEOUT = env_float("PROVIDER_TIMEOUT", 30.0, minimum=0.1, maximum=190.0)  # below the worker's
# A search waits so long for the vector of its query, then words alone decide.
QUERY_TIMEOUT = env_float("QUERY_TIMEOUT", 5.0, minimum=0.1, maximum=60.0)
# Budget of a workspace for models; its own setting `budget` may be lower. 0: no limit.
WORKSPACE_COST_PER_DAY = env_float("WORKSPACE_COST_PER_DAY", 0.0, minimum=0.0, maximum=1e9)
WORKSPACE_COST_PER_MONTH = env_float("WORKSPACE_COST_PER_MONTH", 0.0, minimum=0.0, maximum=1e9)
WORKSPACE_TOKENS_PER_DAY = env_int("WORKSPACE_TOKENS_PER_DAY", 0)
RERANK_PROVIDER = env_str("RERANK_PROVIDER", "http", choices=("http", "fastembed"))
RERANK_FOLDER = env_str("RERANK_FOLDER")
RERANK_BASE_URL = env_str("RERANK_BASE_URL")  # empty: none
RERANK_WIRE = env_str("RERANK_WIRE", "cohere", choices=("cohere", "jina", "voyage", "tei"))
RERANK_MODEL = env_str("RERANK_MODEL")
RERANK_API_KEY = env_secret("RERANK_API_KEY")
RERANK_TIMEOUT = env_float("RERANK_TIMEOUT", 5.0, minimum=0.1, maximum=60.0)  # a search waits
QUERY_CACHE_SECONDS = env_int("QUERY_CACHE_SECONDS", 86_400, maximum=31_536_000)  # 0: off
QUERY_CACHE_DIR = DATA_DIR / "query_vectors"

# The documentation built by `mkdocs build`: served at /docs/.
DOCS_SITE = FILES / "site"

# The OpenAPI schema, made once for each version.
SCHEMA_DIR = DATA_DIR / "schema"

# Documents: files lie below the data folder. Seconds of processor time for reading one.
BLOB_DIR = DATA_DIR / "blobs"
MAX_UPLOAD_BYTES = env_int("MAX_UPLOAD_BYTES", 100 * 2**20, minimum=1024)
DOCUMENT_SECONDS = env_int("DOCUMENT_SECONDS", 120, minimum=1, maximum=280)
OCR_LANGUAGES = env_str("OCR_LANGUAGES", "eng")  # of tesseract, where that reads pictures
# Pages and other sources: the allowed addresses besides public ones, the allowed folders of this
# machine, and alternative addresses of a source ("github=https://github.example.org/api/v3/").
FETCH_ALLOWED_HOSTS = env_list("FETCH_ALLOWED_HOSTS")
FETCH_SECONDS = env_float("FETCH_SECONDS", 30.0, minimum=1.0, maximum=190.0)
CONNECTION_FOLDERS = env_list("CONNECTION_FOLDERS")
CONNECTION_ADDRESSES = env_list("CONNECTION_ADDRESSES")
# Key that encrypts the credentials of connections.
CONNECTION_KEY = env_secret("CONNECTION_KEY") or kept_secret(DATA_DIR / "connection_key")

# Files that one workspace may keep, in MB, whatever room there is; 0: no limit.
WORKSPACE_FILES_MAX_MB = env_int("WORKSPACE_FILES_MAX_MB", 20_480, maximum=1_000_000_000)

# /health/ready: with less room in the data folder the server is not ready; below ten times as much
# its disk is reported as degraded. 0: never.
DISK_FREE_MIN_MB = env_int("DISK_FREE_MIN_MB", 50, maximum=1_000_000)

# Metrics: without a token, `/metrics` answers this machine only
METRICS_TOKEN = env_secret("METRICS_TOKEN")

# A search that takes so many seconds is logged; 0: none is
SLOW_SEARCH_SECONDS = env_float("SLOW_SEARCH_SECONDS", 1.0, minimum=0.0, maximum=3600.0)

# Log: to stderr
LOG_LEVEL = env_str("LOG_LEVEL", "INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
LOG_FORMAT = env_str("LOG_FORMAT", "text", choices=("text", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {
            "()": TextLines,
            "fmt": "%(asctime)s %(levelname)s %(name)s [%(request_id)s]%(beside)s: %(message)s",
        },
        "json": {"()": JSONLines},
    },
    "filters": {
        "refusals": {
            "()": "django.utils.log.CallbackFilter",
            "callback": without_trace_of_refusals,
        },
        "context": {"()": "django.utils.log.CallbackFilter", "callback": with_context},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["refusals", "context"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # Django's own handlers write to stderr in DEBUG and mail otherwise: one line here is
        # enough.
        "django": {"handlers": [], "level": LOG_LEVEL, "propagate": True},
        # The SDKs log a line for every call.
        "httpx2": {"level": "WARNING"},
        "django-q": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
    },
}
