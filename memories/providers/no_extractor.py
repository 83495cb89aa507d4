"""No model: the ladder has one rung less, and says so when it is asked."""

from memories.errors import ProviderError
from memories.providers.extractor import Extractor, ModelQuestion, ModelReply


class NoExtractor(Extractor):
    provider = "none"
    model = "none"
    is_remote = False

    def ask(self, question: ModelQuestion) -> ModelReply:
        raise ProviderError(
            "no language model is configured: set ANTHROPIC_API_KEY, or EXTRACTION_PROVIDER=openai",
            permanent=True,
        )
