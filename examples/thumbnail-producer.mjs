// A Faktory producer: three jobs of the type `thumbnail`, in a queue of their own.
import { Client } from 'faktory-worker'

const client = new Client()
for (const name of ['cat.png', 'dog.png', 'owl.png']) {
  const job = client.job('thumbnail', name)
  job.queue = 'thumbnails'
  const jid = await job.push()
  console.log(`pushed ${name} as ${jid}`)
}
await client.close()
