// Makes the pictures of docs/operate/dashboard.md: npm run screenshots. With a folder (-- folder) it makes pictures of every page
// there instead, in three widths and both themes, to be looked at.
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, Worker } from 'faktory-worker'
import { goTo, signIn, startBrowser } from './support/browser.ts'
import { startDashboardGateway } from './support/dashboard-gateway.ts'
import { lists } from './support/every-page.ts'

const usualFolder = fileURLToPath(new URL('../../../../../docs/images', import.meta.url))
const [, , givenFolder] = process.argv
const folder = givenFolder ?? usualFolder

/** How long the load runs before the first picture, so that plots have a shape. */
const warmUpMs = 45_000

/** Functions, with how many jobs come in a round and how long one runs, ms. */
const functions = [
  { fn: 'mail.deliver', queue: 'mail', each: 9, runMs: 40 },
  { fn: 'image.resize', queue: 'media', each: 5, runMs: 120 },
  { fn: 'invoice.render', queue: 'default', each: 3, runMs: 90 },
  { fn: 'webhook.send', queue: 'default', each: 4, runMs: 60 },
  { fn: 'search.index', queue: 'bulk', each: 6, runMs: 25 },
] as const

const addresses = ['ada@example.org', 'linus@example.org', 'åsa@example.org', 'grace@example.org']

const gateway = await startDashboardGateway()
const place = { host: '127.0.0.1', port: gateway.port('faktory') }
const client = new Client(place)
await client.connect()

const failing = 0.004
const registry = Object.fromEntries(
  functions.map(({ fn, runMs }) => [
    fn,
    async () => {
      await delay(runMs * (0.4 + Math.random() * 1.6))
      if (Math.random() < failing) {
        throw Object.assign(new Error('550 mailbox is full'), { code: 'SMTPFatalError' })
      }
    },
  ]),
)
const workers = ['web-1', 'web-2', 'batch-1'].map(
  (name, at) =>
    new Worker({
      ...place,
      wid: `${name}-${4100 + at}`,
      concurrency: 9,
      beatInterval: 1,
      labels: [name.split('-')[0] ?? ''],
      queues: ['mail', 'default', 'media', 'bulk'],
      registry,
    }),
)
for (const worker of workers) {
  worker.on('error', () => undefined)
  await worker.work()
}
for (let n = 0; n < 3; n += 1) gateway.spawnGearman('-w', '-f', 'wordcount', '--', 'wc', '-w')

let number = 100_000
const nextJob = (fn: string, queue: string, more: object = {}): object => {
  number += 1
  const to = addresses[number % addresses.length]
  const job = { order: 2_000_000 + number, to, template: 'receipt', attempts: [1, 2], dry: false }
  return {
    jid: `c${number.toString(36)}e${(number * 7919).toString(36)}`,
    jobtype: fn,
    queue,
    args: [job],
    retry: 3,
    ...more,
  }
}

/** One round of load, which swells and falls. */
async function round(n: number): Promise<void> {
  const swell = 1 + 0.75 * Math.sin(n / 14)
  const jobs = functions.flatMap(({ fn, queue, each }) =>
    Array.from({ length: Math.round(each * swell * 1.3) }, () => nextJob(fn, queue)),
  )
  await client.pushBulk(jobs as never)
}

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString()
await client.pushBulk([
  ...Array.from({ length: 14 }, (_none, n) =>
    nextJob('report.weekly', 'bulk', { at: inHours(2 + n * 5) }),
  ),
  ...Array.from({ length: 6 }, () => nextJob('charge.card', 'payments', { retry: -1 })),
  ...Array.from({ length: 4 }, () => nextJob('charge.card', 'payments', { retry: 8 })),
] as never)
const failures = ['card was declined: insufficient funds', 'connect ETIMEDOUT 10.1.7.3:443']
for (let n = 0; n < 10; n += 1) {
  const job = (await client.fetch('payments')) as unknown as { jid: string } | null
  if (job) {
    const error = Object.assign(new Error(failures[n % 2]), {
      code: 'PaymentError',
      stack: [
        "app/jobs/charge_card.rb:41:in `capture'",
        "app/jobs/charge_card.rb:17:in `perform'",
      ].join('\n'),
    })
    await client.fail(job.jid, error)
  }
}
await gateway.gearman(
  '-b',
  '-f',
  'thumbnail',
  '{"photo":"IMG_2217.heic","sizes":[128,512,2048],"owner":90071992547409931}',
)

const stop = { isAsked: false }
const load = (async () => {
  for (let n = 0; !stop.isAsked; n += 1) {
    await round(n)
    if (n % 3 === 0) void gateway.gearman('-b', '-f', 'wordcount', 'to be or not to be')
    await delay(500)
  }
})()

const browser = await startBrowser(gateway.port('web'))
const { page } = browser
await signIn(page)
await goTo(page, 'overview')
await page.mouse.move(1270, 10)
await delay(warmUpMs)

const wide = { width: 1280, height: 860 }
const narrow = { width: 360, height: 740 }
type Picture = readonly [name: string, at: string, viewport: typeof wide, theme: 'light' | 'dark']
const ofDocs: readonly Picture[] = [
  ['overview-light', 'overview', wide, 'light'],
  ['history', 'overview?span=hour', wide, 'light'],
  ['functions', 'functions?sort=waiting&order=desc', wide, 'light'],
  ['jobs-narrow', 'dead', narrow, 'dark'],
]
const ofEachPage = [...lists, 'function/mail.deliver', 'queue/payments'].flatMap((at) =>
  [1440, 1024, 390].flatMap((width) =>
    (['light', 'dark'] as const).map((theme): Picture => {
      const name = `${at.replaceAll(/\W+/g, '-')}-${width}-${theme}`
      return [name, at, { width, height: 900 }, theme]
    }),
  ),
)
/** Until figures that come by the second are there, milliseconds. */
const settleMs = givenFolder === undefined ? 5_000 : 1_000
for (const [name, at, viewport, colorScheme] of givenFolder === undefined ? ofDocs : ofEachPage) {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  await goTo(page, at)
  await delay(settleMs)
  await page.screenshot({ path: `${folder}/${name}.png` })
}
await page.setViewportSize(wide)
await page.emulateMedia({ colorScheme: 'dark' })
await goTo(page, 'dead')
await page.locator('td.main a').first().click()
await page.locator('pre.payload').first().waitFor()
await page.mouse.move(1270, 850)
await page.screenshot({ path: `${folder}/job-dark.png` })

stop.isAsked = true
await load
await browser.close()
await Promise.all(workers.map((worker) => worker.stop()))
await client.close()
await gateway.close()
if (browser.faults.length > 0) throw new Error(browser.faults.join('\n'))
