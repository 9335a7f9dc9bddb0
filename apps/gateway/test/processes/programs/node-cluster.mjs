import cluster from 'node:cluster'
import { createServer } from 'node:net'

// Two workers of node:cluster on one port, each of which says its pid to who connects.
if (cluster.isPrimary) {
  const pids = []
  cluster.on('listening', ({ process: { pid } }, { port }) => {
    pids.push(pid)
    if (pids.length === 2) process.send({ port, pids })
  })
  cluster.on('exit', () => process.send({ workers: Object.keys(cluster.workers).length }))
  cluster.fork()
  cluster.fork()
} else {
  createServer((socket) => socket.end(String(process.pid))).listen(0, '127.0.0.1')
}
