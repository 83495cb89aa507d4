from memoryproject.server.front.app import application

app = application()
