// The limit that every hub is compared with: one epoll thread, one send() per member, nothing else. No checks, no sessions, no limits.
//   GET /sub/<channel>   any WebSocket handshake is answered 101; what the client sends afterwards is thrown away
//   POST /pub/<channel>  the body goes as one text frame to every member of the channel; 202
// cc -O2 -o send-loop send-loop.c; ./send-loop PORT. Loopback only. A member whose socket has no room loses the frame.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_FDS = 65536, BUCKETS = 32768, BUFFER = 16384, FRAME = 4 };

struct channel {
  struct channel *next;
  char name[64];
  int *members, count, room;
};

struct connection {
  char *bytes; // null = a member: what it sends is not kept
  int filled, position;
  struct channel *channel;
};

static struct connection connections[MAX_FDS];
static struct channel *channels[BUCKETS];
static char trash[65536];
static const char accepted[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
static const char upgraded[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n";

static struct channel *find(const char *name, int length) {
  unsigned hash = 2166136261u;
  for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  struct channel **at = &channels[hash % BUCKETS];
  for (; *at; at = &(*at)->next)
    if (!strncmp((*at)->name, name, length) && !(*at)->name[length]) return *at;
  *at = calloc(1, sizeof(struct channel));
  memcpy((*at)->name, name, length);
  return *at;
}

static void put(int fd, const char *bytes, int length) {
  int sent = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EPIPE && errno != ECONNRESET) perror("send");
  if (sent > 0 && sent < length) shutdown(fd, SHUT_RDWR); // half a frame: what follows would be read as rubbish
}

static void gone(int fd) {
  struct connection *it = &connections[fd];
  struct channel *from = it->channel;
  if (from) {
    from->members[it->position] = from->members[--from->count];
    connections[from->members[it->position]].position = it->position;
  }
  free(it->bytes);
  memset(it, 0, sizeof *it);
  close(fd);
}

static void join(int fd, struct channel *to) {
  struct connection *it = &connections[fd];
  if (to->count == to->room) to->members = realloc(to->members, sizeof(int) * (to->room = to->room ? to->room * 2 : 4));
  it->position = to->count;
  to->members[to->count++] = fd;
  it->channel = to;
  free(it->bytes);
  it->bytes = NULL;
  put(fd, upgraded, sizeof upgraded - 1);
}

static void publish(int fd, struct channel *to, char *body, int length) {
  // The frame's head goes over the end of the HTTP head, which is used up.
  int head = length < 126 ? 2 : FRAME;
  char *frame = body - head;
  frame[0] = (char)0x81;
  frame[1] = (char)(length < 126 ? length : 126);
  if (head == FRAME) frame[2] = (char)(length >> 8), frame[3] = (char)length;
  for (int i = 0; i < to->count; i++) put(to->members[i], frame, head + length);
  put(fd, accepted, sizeof accepted - 1);
}

// Bytes used up by one request; 0 = not all of it is there, -1 = close.
static int request(int fd, char *bytes, int filled) {
  char *end = memmem(bytes, filled, "\r\n\r\n", 4);
  if (!end) return filled == BUFFER ? -1 : 0;
  char *name = memchr(bytes, '/', end - bytes);
  name = name ? memchr(name + 1, '/', end - name - 1) : NULL;
  char *stop = name ? memchr(name, ' ', end - name) : NULL;
  if (!stop || stop - name > 60) return -1;
  struct channel *channel = find(name + 1, stop - name - 1);
  if (*bytes == 'G') return join(fd, channel), filled;
  *end = 0;
  char *said = strcasestr(bytes, "\r\ncontent-length:");
  *end = '\r';
  int length = said ? atoi(said + 17) : 0, all = end + 4 - bytes + length;
  if (length < 0 || all > BUFFER) return -1;
  if (filled < all) return 0;
  publish(fd, channel, end + 4, length);
  return all;
}

static void receive(int fd) {
  struct connection *it = &connections[fd];
  int read = it->channel ? recv(fd, trash, sizeof trash, MSG_DONTWAIT) : recv(fd, it->bytes + it->filled, BUFFER - it->filled, MSG_DONTWAIT);
  if (read == 0 || (read < 0 && errno != EAGAIN)) {
    gone(fd);
    return;
  }
  if (read < 0 || it->channel) return;
  it->filled += read;
  int used = 0, one = 0;
  while (used < it->filled && !it->channel && (one = request(fd, it->bytes + used, it->filled - used)) > 0) used += one;
  if (one < 0) {
    gone(fd);
  } else if (!it->channel && used) {
    memmove(it->bytes, it->bytes + used, it->filled -= used);
  }
}

static void accept_waiting(int epoll, int listener) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    int on = 1;
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = fd};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[fd].bytes = malloc(BUFFER);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted);
  }
}

int main(int count, char **words) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(count > 1 ? atoi(words[1]) : 0)};
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), epoll = epoll_create1(0), on = 1;
  signal(SIGPIPE, SIG_IGN);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return perror("listen"), 1;
  struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listener}, ready[256];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &wanted);
  for (;;) {
    int waiting = epoll_wait(epoll, ready, 256, -1);
    for (int i = 0; i < waiting; i++) {
      if (ready[i].data.fd == listener) accept_waiting(epoll, listener);
      else if (connections[ready[i].data.fd].bytes || connections[ready[i].data.fd].channel) receive(ready[i].data.fd);
    }
  }
}
