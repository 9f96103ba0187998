#!/bin/sh
# The tutorial's workflow, run once on this machine: a fan-out, a retry and a join.
set -eu
cd "$(dirname "$0")"
: "${DOCPROC:=docproc}"
DOCPROC_HOME=$(mktemp -d)
export DOCPROC_HOME DOCPROC_WORKFLOWS_DIR=./workflows PYTHONPATH=.
export DOCPROC_COMPONENTS=lines=words.Lines,count_words=words.CountWords
text='to be\nor not to be\n¡that is the question!'

echo "The workflow (examples/words/workflows/words.yaml):"
"$DOCPROC" workflow graph words
echo
echo "A request for it, one unit per line; the third line fails once and is retried:"
"$DOCPROC" request run words --payload "{\"text\": \"$text\"}"
echo
echo "Its state lies in $DOCPROC_HOME/docproc.db. Next: docs/tutorial.md takes it apart, breaks it and repairs it."
