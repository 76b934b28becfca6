"""What was tried against the policies that come with the project, as rows: each is loaded as it is shipped."""
