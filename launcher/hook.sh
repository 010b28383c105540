#!/bin/sh
# Holdfast's hook launcher, written by `holdfast install`: sh FILE CLIENT EVENT, with the hook input on standard input.
# A report that needs no answer becomes a file in the inbox of the data folder; for everything else, and wherever anything is
# unusual, Node runs. It always ends with 0. Only builtins before the one program that copies the input.
N=@NODE@ P=@PROGRAM@ M=@MACHINE@ L=@PLACES@
LC_ALL=C
c=$1 e=$2
run() {
  cd "${w:-.}" 2>/dev/null
  [ -x "$N" ] && [ -r "$P" ] && exec "$N" "$P" hook "$c" "$e"
  exit 0
}
case $e in PreToolUse | PostToolUse | PostToolUseFailure) ;; *) run ;; esac
# Another client runs this hook, or it writes to another journal, or words would not stay on their line.
nl='
'
case $HOLDFAST_STORE@OTHERS@ in ?*) run ;; esac
case $PWD$HOLDFAST_RUN$HOLDFAST_AGENT in *"$nl"*) run ;; esac
cd -P . 2>/dev/null || run
w=$PWD d=$PWD
# The git folder that all working trees of the clone share. A linked one is confirmed from the other side.
while :; do
  [ "$d" = "$HOME" ] && [ "$d" != "$w" ] && d=
  if [ -z "$d" ]; then
    [ -s "$L" ] && run
    exit 0
  fi
  [ -h "$d/.git" ] && run
  if [ -f "$d/.git" ]; then
    l= q= b=
    IFS= read -r l <"$d/.git" || run
    case $l in 'gitdir: /'*/worktrees/*) g=${l#gitdir: } ;; *) run ;; esac
    { IFS= read -r q <"$g/commondir" && IFS= read -r b <"$g/gitdir"; } 2>/dev/null || run
    [ "$q" = ../.. ] && [ "$b" = "$d/.git" ] || run
    g=${g%/worktrees/*}
    break
  fi
  if [ -f "$d/.git/HEAD" ]; then
    [ -e "$d/.git/commondir" ] && run
    g=$d/.git
    break
  fi
  d=${d%/*}
done
[ -O "$d" ] && [ -O "$d/.git" ] && [ -O "$g" ] || run
[ -s "$L" ] && run
i=$g/holdfast/inbox
[ -d "$i" ] || run
cd -P "$i" 2>/dev/null && [ "$PWD" = "$i" ] && [ -O . ] || exit 0
[ -e off ] && exit 0
[ -e ask ] && run
# The agent's process: the one it names, else the nearest above that is not a shell. Nothing where there is no /proc.
a= t= p=${HOLDFAST_PID:-$CLAUDE_PID} h=0
case $p in '' | *[!0-9]*) p=$PPID ;; *) h=9 ;; esac
while [ "$p" -gt 1 ] && read -r s 2>/dev/null <"/proc/$p/stat"; do
  n=${s#*\(} n=${n%\)*}
  set -f
  set -- ${s##*\) }
  set +f
  case $h:$n in
    [0-7]:sh | [0-7]:-sh | [0-7]:*ash | [0-7]:*zsh | [0-7]:*ksh | [0-7]:*csh | [0-7]:fish | [0-7]:busybox | [0-7]:env | [0-7]:timeout | [0-7]:nohup | [0-7]:nice | [0-7]:setsid | [0-7]:sudo | [0-7]:npx | [0-7]:npm)
      p=$2 h=$((h + 1)) ;;
    8:*) break ;;
    *) a=$p:${20}; break ;;
  esac
done
read -r t 2>/dev/null </proc/sys/kernel/random/boot_id
set -- *.in
k=$#
[ $k -ge 5000 ] && exit 0
umask 077
set -C
ulimit -f 32768 2>/dev/null
n=$M-$$-${a#*:}
[ -e "$n.in" ] && n=$n-$k
# What is about to happen must be known after a power failure; the rest may be lost with the machine.
copy() { case $e in Pre*) dd bs=65536 conv=fsync || cat ;; *) cat ;; esac; }
{
  printf '%s\n' "holdfast-inbox 1 $c $e $$ $PPID ${a:--} ${t:--}" "$w" "$HOLDFAST_RUN" "$HOLDFAST_AGENT"
  copy
} 2>/dev/null >"$n.in"
# Many reports, or old ones, are taken in meanwhile; no hook waits for that.
if { [ $k -ge 64 ] && [ $((k % 64)) -eq 0 ]; } || { [ -e drained ] && [ drained -ot "$n.in" ]; }; then
  [ -x "$N" ] && [ -r "$P" ] && (cd "$w" && exec "$N" "$P" hook "$c" "$e" --inbox) </dev/null >/dev/null 2>&1 &
fi
exit 0
