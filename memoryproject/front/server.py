from memoryproject.front.app import application

app = application()
