"""Routes in the protocols of other memory servers, so that their clients work here unchanged.

The workspace is that of the key. A request for something that is not built is an error in that
client's form, never an empty success."""
