const verbs = {
  PUSH: (queue, words) => {
    queue.push(words)
    return '+OK\r\n'
  },
  FETCH: (queue) => {
    const job = queue.shift()
    return job === undefined ? '$-1\r\n' : `$${job.length}\r\n${job}\r\n`
  },
}

/**
 * PUSH, FETCH and ACK on one queue, whatever its name.
 * @param {(done: () => void, input?: Buffer) => void} stored
 */
export function serveFaktory(stored) {
  const queue = []

  function onLine(socket, line) {
    const space = line.indexOf(' ')
    const verb = line.slice(0, space)
    if (verb === 'HELLO') {
      socket.write('+OK\r\n')
      return
    }
    const answer = verbs[verb]?.(queue, line.slice(space + 1)) ?? '+OK\r\n'
    const input = verb === 'PUSH' ? Buffer.from(line, 'latin1') : undefined
    stored(() => socket.write(answer), input)
  }

  return (socket) => {
    let held = ''
    socket.on('error', () => undefined)
    socket.write('+HI {"v":2}\r\n')
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      const lines = (held + text).split('\r\n')
      held = lines.pop()
      for (const line of lines) onLine(socket, line)
    })
  }
}
