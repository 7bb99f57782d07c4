#!/bin/sh
# reported.sh FOLDER TEST: what a script has written of a test, with its exit code.
file=$1/$2
if [ ! -r "$file" ]; then
  file=$1/all  # Of one that is skipped, perhaps.
  if [ ! -r "$file" ] || [ "$(head -n 1 "$file")" != 77 ]; then
    echo "there is no result: the script has not come to this test"
    exit 1
  fi
fi
sed 1d "$file"
exit "$(head -n 1 "$file")"
