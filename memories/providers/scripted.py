"""An extractor that says what it was told to say: for tests, and for showing how things work."""

from collections.abc import Iterable

from pydantic import BaseModel

from memories.errors import ProviderError
from memories.prompts import ExtractionRequest
from memories.providers.extractor import ExtractionAnswer, Extractor, ModelQuestion, ModelReply


class ScriptedExtractor(Extractor):
    """Gives `answers` one by one: a FactsAnswer, the raw text of a reply, or an error to raise.

    `requests` and `questions` hold what it was asked. After the last answer it fails.
    """

    provider = "scripted"
    model = "scripted"
    is_remote = False

    def __init__(self, answers: Iterable[BaseModel | str | ProviderError]) -> None:
        self._answers = iter(answers)
        self.requests: list[ExtractionRequest] = []
        self.questions: list[ModelQuestion] = []

    def extract(self, request: ExtractionRequest) -> ExtractionAnswer:
        self.requests.append(request)
        return super().extract(request)

    def ask(self, question: ModelQuestion) -> ModelReply:
        self.questions.append(question)
        answer = next(self._answers, None)
        if answer is None:
            raise ProviderError("the script has no more answers", permanent=True)
        if isinstance(answer, ProviderError):
            raise answer
        text = answer if isinstance(answer, str) else answer.model_dump_json()
        return ModelReply(text, stop_reason="end", model=self.model)
