/*
 * Loaded into the program under test by LD_PRELOAD. Counts the system calls that write, of JavaScript and of SQLite
 * alike, and causes a fault at one of them. The environment says which:
 *
 *   FAULT_UNDER    only files whose path starts with this are counted
 *   FAULT_SOCKETS  if set, sends over sockets are counted too
 *   FAULT_AT       the call at which it happens, from 1; 0 only counts
 *   FAULT_DO       kill: the process is killed before the call. torn: half of the data is written, then the process is
 *                  killed. sent: all of it is written, then the process is killed. stop: the process is stopped before
 *                  the call. A number: this and all later counted calls fail with this errno. once:NUMBER: only this
 *                  call fails. short: half of the data is written, which is not an error.
 *   FAULT_LOG      the file for the counted calls, one line each
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *under;
static int sockets, at, count, logged = -1, sticky = 1, failure;
static enum { KILL, TORN, SENT, STOP, FAIL, SHORT } action;

enum verdict { GO, HALF, HALF_AND_DIE, WHOLE_AND_DIE, REFUSE };

__attribute__((constructor)) static void prepare(void) {
  const char *what = getenv("FAULT_DO"), *file = getenv("FAULT_LOG");
  under = getenv("FAULT_UNDER");
  sockets = getenv("FAULT_SOCKETS") != NULL;
  at = getenv("FAULT_AT") ? atoi(getenv("FAULT_AT")) : 0;
  if (!what || !strcmp(what, "kill")) action = KILL;
  else if (!strcmp(what, "torn")) action = TORN;
  else if (!strcmp(what, "sent")) action = SENT;
  else if (!strcmp(what, "stop")) action = STOP;
  else if (!strcmp(what, "short")) action = SHORT;
  else {
    action = FAIL;
    if (!strncmp(what, "once:", 5)) sticky = 0, what += 5;
    failure = atoi(what);
  }
  if (file) logged = REAL(open64)(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  /* Child processes of the program are not tested. */
  unsetenv("LD_PRELOAD");
}

static enum verdict meet(const char *call, const char *path, int writes) {
  int number = __sync_add_and_fetch(&count, 1);
  if (logged >= 0) {
    char line[4400];
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    syscall(SYS_write, logged, line, length);
  }
  if (at == 0 || number < at) return GO;
  if (number > at) return action == FAIL && sticky ? REFUSE : GO;
  switch (action) {
    case TORN:
      if (writes) return HALF_AND_DIE;
      /* fall through */
    case SENT:
      if (writes) return WHOLE_AND_DIE;
      /* fall through */
    case KILL: kill(getpid(), SIGKILL); for (;;) pause();
    case STOP: kill(getpid(), SIGSTOP); return GO;
    case SHORT: return writes ? HALF : GO;
    case FAIL: return REFUSE;
  }
  return GO;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int isOurs(const char *path) { return under && strncmp(path, under, strlen(under)) == 0; }

/* Writes the path to `path`, which has room; false for what is not counted. */
static int handleIsOurs(int fd, char *path) {
  struct stat found;
  if (fd <= 2 || (!under && !sockets) || fstat(fd, &found) != 0) return 0;
  if (S_ISSOCK(found.st_mode)) return sockets ? (strcpy(path, "socket"), 1) : 0;
  if (!under || !S_ISREG(found.st_mode)) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, 4095);
  if (length < 0) return 0;
  path[length] = 0;
  return isOurs(path);
}

static enum verdict byHandle(const char *call, int fd, int writes) {
  char path[4096];
  int before = errno;
  enum verdict verdict = handleIsOurs(fd, path) ? meet(call, path, writes) : GO;
  errno = verdict == REFUSE ? failure : before;
  return verdict;
}

/* A path through the handle of a folder, /proc/self/fd/7/name, as the path it stands for. */
static const char *throughHandle(const char *path, char *real) {
  int fd, used = 0;
  if (sscanf(path, "/proc/self/fd/%d%n", &fd, &used) != 1 || path[used] != '/') return path;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, real, 4000);
  if (length < 0 || length + strlen(path + used) > 4090) return path;
  strcpy(real + length, path + used);
  return real;
}

static enum verdict byPath(const char *call, const char *path) {
  int before = errno;
  char real[4096];
  path = throughHandle(path, real);
  enum verdict verdict = isOurs(path) ? meet(call, path, 0) : GO;
  errno = verdict == REFUSE ? failure : before;
  return verdict;
}

#define WRITER(name, signature, half, whole)                     \
  ssize_t name signature {                                       \
    switch (byHandle(#name, fd, 1)) {                            \
      case REFUSE: return -1;                                    \
      case HALF: return half;                                    \
      case HALF_AND_DIE: (void)!half; die();                     \
      case WHOLE_AND_DIE: (void)!whole; die();                   \
      case GO: break;                                            \
    }                                                            \
    return whole;                                                \
  }
WRITER(write, (int fd, const void *data, size_t size), REAL(write)(fd, data, (size + 1) / 2), REAL(write)(fd, data, size))
WRITER(pwrite, (int fd, const void *data, size_t size, off_t to), REAL(pwrite)(fd, data, (size + 1) / 2, to), REAL(pwrite)(fd, data, size, to))
WRITER(pwrite64, (int fd, const void *data, size_t size, off64_t to), REAL(pwrite64)(fd, data, (size + 1) / 2, to), REAL(pwrite64)(fd, data, size, to))
WRITER(writev, (int fd, const struct iovec *parts, int number), REAL(writev)(fd, parts, (number + 1) / 2), REAL(writev)(fd, parts, number))
WRITER(send, (int fd, const void *data, size_t size, int flags), REAL(send)(fd, data, (size + 1) / 2, flags), REAL(send)(fd, data, size, flags))
WRITER(sendmsg, (int fd, const struct msghdr *message, int flags), REAL(sendmsg)(fd, message, flags), REAL(sendmsg)(fd, message, flags))
WRITER(sendfile64, (int fd, int from, off64_t *offset, size_t size), REAL(sendfile64)(fd, from, offset, (size + 1) / 2), REAL(sendfile64)(fd, from, offset, size))

#define HANDLE(name, signature, whole) \
  int name signature { return byHandle(#name, fd, 0) == REFUSE ? -1 : whole; }
HANDLE(fsync, (int fd), REAL(fsync)(fd))
HANDLE(fdatasync, (int fd), REAL(fdatasync)(fd))
HANDLE(ftruncate, (int fd, off_t size), REAL(ftruncate)(fd, size))
HANDLE(ftruncate64, (int fd, off64_t size), REAL(ftruncate64)(fd, size))

#define PATH(name, signature, whole) \
  int name signature { return byPath(#name, path) == REFUSE ? -1 : whole; }
PATH(rename, (const char *path, const char *to), REAL(rename)(path, to))
PATH(unlink, (const char *path), REAL(unlink)(path))
PATH(mkdir, (const char *path, mode_t mode), REAL(mkdir)(path, mode))
PATH(rmdir, (const char *path), REAL(rmdir)(path))
PATH(link, (const char *path, const char *to), REAL(link)(path, to))

/* Opening for writing is counted if it creates or truncates a file. */
static int mayOpen(const char *path, int flags) {
  if ((flags & (O_CREAT | O_TRUNC)) && (flags & O_ACCMODE) != O_RDONLY) return byPath("open", path) != REFUSE;
  return 1;
}
#define OPENER(name)                                                     \
  int name(const char *path, int flags, ...) {                           \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;            \
    va_end(rest);                                                        \
    return mayOpen(path, flags) ? REAL(name)(path, flags, mode) : -1;    \
  }
OPENER(open)
OPENER(open64)

/* libuv copies files with a raw system call. */
long syscall(long number, ...) {
  va_list rest;
  long a[6];
  va_start(rest, number);
  for (int index = 0; index < 6; index++) a[index] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_copy_file_range) {
    switch (byHandle("copy_file_range", (int)a[2], 1)) {
      case REFUSE: return -1;
      case HALF: a[4] = (a[4] + 1) / 2; break;
      case HALF_AND_DIE: REAL(syscall)(number, a[0], a[1], a[2], a[3], (a[4] + 1) / 2, a[5]); die();
      case WHOLE_AND_DIE: REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]); die();
      case GO: break;
    }
  }
  return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
