# Completion of muster-sim for bash, from what its own --help says.
_muster_sim() {
  local program=$1 current=$2
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W \
      "$("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p') --help --version" \
      -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \
      "$("$program" "${COMP_WORDS[1]}" --help | grep -oE -- '--[a-z-]+' | sort -u)" -- "$current")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _muster_sim muster-sim
