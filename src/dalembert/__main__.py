"""`python -m dalembert` is the command line."""

from dalembert.cli import app

app()
