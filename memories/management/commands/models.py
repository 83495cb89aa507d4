"""The neural models alone, for web processes whose workers run elsewhere."""

import signal
from typing import Any

from memories.management.command_options import PrintableCommand
from memories.search import neural_models


class Command(PrintableCommand):
    help = "Run neural embedders and rerankers until SIGTERM. `up` starts this itself where it has no workers."
    requires_system_checks = ()

    def handle(self, *_: Any, **__: Any) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # before threads are begun, which inherit it
        with neural_models.served():
            signal.sigwait({signal.SIGTERM})
