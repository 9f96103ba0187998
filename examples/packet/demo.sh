#!/bin/sh
# A mixed packet: drawn, processed and shown. Some of its pages are digital, some are bad scans.
set -eu
: "${DOCPROC:=docproc}"
: "${DEMO:=${TMPDIR:-/tmp}/docproc-demo}"
rm -rf "$DEMO"

echo "Drawing a packet of Spanish documents into $DEMO …"
"$DOCPROC" samples "$DEMO" --kind packet --language es --seed 4 >/dev/null
echo "Processing it:"
"$DOCPROC" run "$DEMO/packet-mixed.pdf" --home "$DEMO/home" --out "$DEMO/answers"
cat <<END

What is printed on it:     $DEMO/labels.jsonl
The packet:                $DEMO/packet-mixed.pdf
The whole answer as JSON:  $DEMO/answers/packet-mixed.json

What to try next:
  $DOCPROC run your-file.pdf          your own files, or folders of them
  $DOCPROC up --review flag           the same as a server, with a page to drop files on
  $DOCPROC samples DIR --kind all     documents of every kind, with labels
  docs/first-packet.md                what happened here, step by step
END
