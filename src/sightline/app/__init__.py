"""The REST service and the page of `sightline serve`.

The server process speaks HTTP and nothing else: it never decodes a picture and holds no model. Uploads
go into a private folder, one per job; worker processes, which keep the models, read them there and
write results beside them. So a crash in a decoder ends a worker and costs one client an error, and
memory is that of the workers, however many clients there are.
"""
