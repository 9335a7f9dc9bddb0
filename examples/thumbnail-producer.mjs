// A Faktory producer: three jobs of the type `thumbnail`.
import { Client } from 'faktory-worker'

const client = new Client()
for (const name of ['cat.png', 'dog.png', 'owl.png']) {
  const jid = await client.job('thumbnail', name).push()
  console.log(`pushed ${name} as ${jid}`)
}
await client.close()
