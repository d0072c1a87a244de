// Stands in for a command that command_server.py runs: `client SERVER COMMAND ARGUMENT ...`.
//
// It hands its arguments, directory, environment and standard streams to the server and ends as the command ends, by an
// exit status or by a signal. Tests start a thousand of them: Python itself would take longer to start than most of the
// commands take.

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char** environ;

static char request[1 << 17];
static size_t used;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void add(const char* text) {
  const size_t bytes = strlen(text) + 1;
  if (bytes > sizeof request - used) {
    fprintf(stderr, "the command's arguments and environment are larger than %zu bytes\n", sizeof request);
    exit(1);
  }
  memcpy(request + used, text, bytes);
  used += bytes;
}

// How many arguments there are, the directory, the arguments, the environment: each with a zero behind it.
static void add_all(int count, char** arguments) {
  char number[16], directory[PATH_MAX];
  snprintf(number, sizeof number, "%d", count);
  if (!getcwd(directory, sizeof directory))
    fail("getcwd");
  add(number);
  add(directory);
  for (int place = 0; place < count; place++)
    add(arguments[place]);
  for (char** variable = environ; *variable; variable++)
    add(*variable);
}

static int connected(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "%s: longer than a socket's name may be\n", path);
    exit(1);
  }
  strcpy(address.sun_path, path);
  const int server = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (server < 0 || connect(server, (struct sockaddr*)&address, sizeof address))
    fail(path);
  return server;
}

static void ask(int server) {
  const int streams[] = {0, 1, 2};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof streams)];
  } control = {.bytes = {0}};
  struct iovec data = {request, used};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof streams);
  memcpy(CMSG_DATA(rights), streams, sizeof streams);
  if (sendmsg(server, &message, MSG_NOSIGNAL) < 0)
    fail("sendmsg");
}

int main(int count, char** arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: %s SERVER COMMAND ARGUMENT ...\n", arguments[0]);
    return 1;
  }
  const int server = connected(arguments[1]);
  add_all(count - 2, arguments + 2);
  ask(server);
  char answer[16] = "";
  if (recv(server, answer, sizeof answer - 1, 0) <= 0) {
    fprintf(stderr, "%s: the command server ended before the command did\n", arguments[2]);
    return 1;
  }
  const int status = atoi(answer);
  if (status < 0)
    kill(getpid(), -status);
  return status;
}
