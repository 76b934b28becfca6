"""The calls of the admin listener, a file for each subject. Data, and no more: the handlers are beside this folder."""
