#!/bin/sh
# Holdfast's hook launcher: FILE CLIENT EVENT, with the hook input on standard input. A report that needs no answer becomes a
# file in the inbox of the data folder; for everything else, and wherever anything is unusual, Node runs. It always ends
# with 0. Only builtins before the one program that copies the input.
# The values are filled in by `holdfast install`.
N=@NODE@ P=@PROGRAM@ M=@MACHINE@ S=@STATE@
LC_ALL=C
c=$1 e=$2
run() {
  cd "${w:-.}" 2>/dev/null
  [ -n "$P" ] || { command -v holdfast >/dev/null && exec holdfast hook "$c" "$e" "$@"; exit 0; }
  [ -x "$N" ] && [ -r "$P" ] && exec "$N" "$P" hook "$c" "$e" "$@"
  # An upgrade of Node took the recorded paths away: the search path has the new ones.
  [ -r "$P" ] && seek node && exec "$n" "$P" hook "$c" "$e" "$@"
  seek holdfast && exec "$n" hook "$c" "$e" "$@"
  [ -d "$S/log" ] && [ ! -e "$S/log/no-node" ] && {
    printf '%s The hook launcher found neither Node nor Holdfast; nothing was recorded. Run holdfast install again.\n' \
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >>"$S/log/hook.log"
    : >"$S/log/no-node"
  } 2>/dev/null
  exit 0
}
# A program on the search path, unless it came with the project.
seek() {
  n=$(command -v "$1" 2>/dev/null)
  case $n in "$PWD"/* | */node_modules/.bin/*) return 1 ;; /*) ;; *) return 1 ;; esac
}
[ -e "$S/off" ] && exit 0
# Some clients run the hook files of others; their variables tell.
case $c in
  claude | copilot | vscode)
    if [ -n "$QWEN_PROJECT_DIR$QWEN_CODE_SESSION_ID" ]; then c=qwen
    elif [ -n "$COPILOT_CLI$COPILOT_PROJECT_DIR" ]; then c=copilot
    elif [ -n "$CURSOR_VERSION" ]; then c=cursor
    elif [ -n "$GEMINI_SESSION_ID" ]; then c=gemini
    fi ;;
esac
# What becomes of the event: begin (on disk before the hook ends), report, turn (a prompt that may be a repetition), drain.
case $e in
  PreToolUse | preToolUse | BeforeTool | beforeShellExecution) f=begin ;;
  PostToolUse | PostToolUseFailure | postToolUse | postToolUseFailure | AfterTool) f=report ;;
  afterShellExecution | afterFileEdit | beforeReadFile | Task* | Subagent* | subagent*) f=report ;;
  Stop | StopFailure | stop | agentStop | errorOccurred | AfterAgent | PreCompact | preCompact | SessionEnd | sessionEnd) f=drain ;;
  SessionStart) [ "$c" = gemini ] || run; f=report ;;
  UserPromptSubmit) [ "$c" = qwen ] || run; f=turn ;;
  *) run ;;
esac
# It writes to another journal, or words would not stay on their line.
nl='
'
[ -z "$HOLDFAST_STORE" ] && [ -n "$M" ] || run
case $PWD$HOLDFAST_RUN$HOLDFAST_AGENT in *"$nl"*) run ;; esac
# Cursor runs the hooks of a user elsewhere.
[ "$c" = cursor ] && [ -n "$CURSOR_PROJECT_DIR" ] && { cd "$CURSOR_PROJECT_DIR" 2>/dev/null || run; }
cd -P . 2>/dev/null || run
w=$PWD d=$PWD g=
# A submodule: its git folder lies in the one of a repository above and leads back here.
module() {
  u=${d%/*}
  while :; do
    [ -n "$u" ] || run
    case $g in "$u"/.git/modules/*) [ -h "$u/.git" ] && run; break ;; esac
    u=${u%/*}
  done
  q= b=
  while read -r l o p; do
    case $l in '[core]') q=1 ;; '['*) q= ;; worktree) [ -n "$q" ] && [ "$o" = = ] && b=$p ;; esac
  done 2>/dev/null <"$g/config"
  cd -P "$g" 2>/dev/null && [ -n "$b" ] && cd -P "$b" 2>/dev/null && [ "$PWD" = "$d" ] || run
}
# The git folder that all working trees of the clone share. A pointer is confirmed from the other side.
while :; do
  [ "$d" = "$HOME" ] && [ "$d" != "$w" ] && break
  [ -z "$d" ] && break
  [ -h "$d/.git" ] && run
  if [ -f "$d/.git" ]; then
    l= q= b=
    IFS= read -r l <"$d/.git" || run
    case $l in 'gitdir: '?*) ;; *) run ;; esac
    cd "$d" && cd -P "${l#gitdir: }" 2>/dev/null && [ -f HEAD ] || run
    g=$PWD
    if [ -e "$g/commondir" ]; then
      { IFS= read -r q <"$g/commondir" && IFS= read -r b <"$g/gitdir"; } 2>/dev/null || run
      case ${g##*/worktrees/} in "$g" | */*) run ;; esac
      [ "$q" = ../.. ] && [ "$b" = "$d/.git" ] || run
      g=${g%/worktrees/*}
      [ -f "$g/HEAD" ] && [ ! -e "$g/commondir" ] || run
    else
      module
    fi
    break
  fi
  if [ -f "$d/.git/HEAD" ]; then
    [ -e "$d/.git/commondir" ] && run
    g=$d/.git
    break
  fi
  [ -e "$d/.hg" ] || [ -e "$d/.svn" ] || [ -e "$d/.jj" ] && break
  d=${d%/*}
done
# Folders whose data is kept in the state folder: the nearest around this one, or the git folder itself.
i= b=
if [ -s "$S/places" ]; then
  while IFS='	' read -r l p; do
    case $l in data/*) ;; *) continue ;; esac
    [ -n "$g" ] && [ "$p" = "$g" ] && { i=$S/$l/inbox; break; }
    case $w/ in "$p"/*) [ ${#p} -gt ${#b} ] && { [ -z "$g" ] || [ ${#p} -ge ${#d} ]; } && b=$p i=$S/$l/inbox ;; esac
  done <"$S/places"
fi
if [ -z "$i" ]; then
  [ -n "$g" ] || exit 0
  [ -O "$d" ] && [ -O "$d/.git" ] && [ -O "$g" ] || run
  i=$g/holdfast/inbox
fi
[ -d "$i" ] || run
cd -P "$i" 2>/dev/null && [ "$PWD" = "$i" ] && [ -O . ] || exit 0
[ -e off ] && exit 0
case $f in
  begin | report) [ -e ask ] && run ;;
  turn)
    case $QWEN_CODE_SESSION_ID in '' | *[!A-Za-z0-9_-]*) run ;; esac
    [ -e "turn-$QWEN_CODE_SESSION_ID" ] || run ;;
esac
# The agent's process: the one it names, else the nearest above that is not a shell. Nothing where there is no /proc.
a= t= p=$HOLDFAST_PID h=0
[ "$c" = claude ] && p=${p:-$CLAUDE_PID}
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
umask 077
set -- *.in
k=$#
if [ $k -ge 5000 ]; then
  [ -e full ] || : >full
  exit 0
fi
set -C
ulimit -f 32768 2>/dev/null
n=$M-$$-${a#*:}
[ -e "$n.in" ] && n=$n-$k
copy() { case $f in begin) dd bs=65536 conv=fsync || cat ;; *) cat ;; esac; }
{
  printf '%s\n' "holdfast-inbox 1 $c $e $$ $PPID ${a:--} ${t:--}" "$w" "$HOLDFAST_RUN" "$HOLDFAST_AGENT"
  copy
} 2>/dev/null >"$n.in"
[ "$f" = drain ] && run --inbox </dev/null
# Many reports, or old ones, are taken in meanwhile; no hook waits for that.
if { [ $k -ge 64 ] && [ $((k % 64)) -eq 0 ]; } || { [ -e drained ] && [ drained -ot "$n.in" ]; }; then
  (run --inbox) </dev/null >/dev/null 2>&1 &
fi
exit 0
