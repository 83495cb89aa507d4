"""The interface of chat models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memories.providers.extractor import ExtractorConfig

# The interface of chat models: messages and tools in, words as they come, then the tool calls, or a
# ProviderError.

Tell = Callable[[str], None]  # is given words as they come, in whichever thread they come in


@dataclass(frozen=True, slots=True)
class ChatTool:
    """`parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """`calls` are what an assistant wanted looked up; a `tool` message answers the one that
    `call_id` names."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """`rules` are ours; with no `tools` it has to answer."""

    rules: str
    messages: Sequence[ChatMessage]
    tools: Sequence[ChatTool] = ()
    max_tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class ChatReply:
    text: str
    model: str
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


@dataclass
class ArgumentsBuilder:
    """The arguments of a call, which come in pieces of JSON."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class ChatModel(ABC):
    """`who` is the model and where it is, in words."""

    model: str
    who: str

    def __init__(self, config: ExtractorConfig) -> None:
        self._endpoint = config.endpoint

    @abstractmethod
    def ask(self, question: ChatQuestion, tell: Tell) -> ChatReply:
        """Raises ProviderError: for refusals too. What `tell` raises ends the call."""
