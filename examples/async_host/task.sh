#!/bin/sh
# One task of async_host: task.sh FILE COMMAND NODE DEVICES. FILE.log gets what it
# prints, FILE.exit the status with which it has ended.
exec >"$1.log" 2>&1 </dev/null
export NODE="$3" DEVICES="$4"
echo "begin $(date +%s%N) $NODE $DEVICES"
sh -c "$2" &
# SIGTERM is for the command: this shell stays, to write the status. It waits again
# where the signal ended its waiting.
trap : TERM
wait $!
status=$?
while kill -0 $! 2>/dev/null; do
  wait $!
  status=$?
done
echo "end $(date +%s%N) $status"
echo $status >"$1.new"
mv "$1.new" "$1.exit"
