import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { claimPorts } from './ports.ts'

const host = '127.0.0.1'
// Below the ephemeral range, and away from what the tests of whole instances use.
const base = 20_000 + Math.floor(Math.random() * 900) * 10
/** A refusal names the port, its holder, and the flag that chooses another port. */
const isTaken = (port: number, who = 'another Ergon', flag = '--port') => ({
  code: 'port_taken',
  message: `Could not listen: port ${port} is taken by ${who}; choose another: npm start -- ${flag} <port>`,
})

test('claimPorts() gives two instances different default blocks, also before they listen', async () => {
  const wanted = { host, port: undefined, pgPort: undefined }
  const both = await Promise.all([claimPorts(wanted), claimPorts(wanted)])
  const [one, other] = both
  assert.notEqual(one.port, other.port)
  assert.notEqual(one.pgPort, other.pgPort)
  assert.equal((one.port - 8080) % 10, 0)
  await Promise.all(both.map((ports) => ports.release()))
})

test('claimPorts() refuses a wanted port that another instance claims, until it is given up', async () => {
  const wanted = { host, port: base, pgPort: base + 5 }
  const held = await claimPorts(wanted)
  await assert.rejects(claimPorts(wanted), isTaken(base))
  await assert.rejects(claimPorts({ ...wanted, port: base - 3 }), isTaken(base))
  await assert.rejects(
    claimPorts({ ...wanted, port: base + 10 }),
    isTaken(base + 5, undefined, '--pg-port'),
  )
  await held.release()
  const again = await claimPorts(wanted)
  assert.deepEqual([again.port, again.pgPort], [base, base + 5])
  await again.release()
})

test('claimPorts() refuses a wanted port that somebody listens on', async (t) => {
  const other = createServer().listen({ host, port: base + 20 })
  t.after(() => other.close())
  await once(other, 'listening')
  const wanted = { host, port: base + 20, pgPort: base + 25 }
  await assert.rejects(claimPorts(wanted), isTaken(base + 20, 'another program'))
})

const PROCESSOR = { flag: '--test-processor-port', use: 'the test processor' }
const withProcessor = (port: number, more: object = {}) => ({
  host,
  port: base + 60,
  pgPort: base + 65,
  named: [{ port, ...PROCESSOR }],
  ...more,
})

test('claimPorts() refuses a further port that is taken, and claims nothing then', async (t) => {
  const wanted = withProcessor(base + 66)
  const held = await claimPorts(wanted)
  const elsewhere = withProcessor(base + 66, { port: base + 70, pgPort: base + 75 })
  await assert.rejects(claimPorts(elsewhere), isTaken(base + 66, undefined, PROCESSOR.flag))
  await held.release()
  const again = await claimPorts(elsewhere)
  await again.release()
  const other = createServer().listen({ host, port: base + 66 })
  t.after(() => other.close())
  await once(other, 'listening')
  await assert.rejects(claimPorts(wanted), isTaken(base + 66, 'another program', PROCESSOR.flag))
  await (await claimPorts(withProcessor(base + 67))).release()
})

test('claimPorts() gives a port one use', async () => {
  for (const [port, whose] of [
    [base + 61, `${base + 60} to ${base + 64} are those of the API`],
    [base + 65, 'it is that of databases'],
  ] as const)
    await assert.rejects(claimPorts(withProcessor(port)), {
      code: 'port_taken',
      message: `Could not use port ${port} for the test processor: ${whose}; choose another: npm start -- --test-processor-port <port>`,
    })
  // A block that is chosen lies elsewhere.
  const both = await claimPorts({ host, port: undefined, pgPort: undefined })
  await both.release()
  const chosen = await claimPorts(withProcessor(both.port, { port: undefined, pgPort: undefined }))
  assert.notEqual(chosen.port, both.port)
  await chosen.release()
})

test('claimPorts() says why an address is not to be had, where nobody has it', async () => {
  const elsewhere = { host: '192.0.2.1', port: base + 30, pgPort: base + 35 }
  await assert.rejects(claimPorts(elsewhere), {
    code: 'port_taken',
    message: `Could not listen on 192.0.2.1, port ${base + 30}: EADDRNOTAVAIL`,
  })
})

test('claimPorts() refuses a port of databases among those of the API, and one of the status page that is taken', async (t) => {
  await assert.rejects(claimPorts({ host, port: base + 40, pgPort: base + 44 }), {
    code: 'port_taken',
    message: `Could not use port ${base + 44} for databases: ${base + 40} to ${base + 44} are those of the API; choose another: npm start -- --pg-port <port>`,
  })
  const other = createServer().listen({ host, port: base + 44 })
  t.after(() => other.close())
  await once(other, 'listening')
  const wanted = { host, port: base + 40, pgPort: base + 45 }
  await assert.rejects(claimPorts(wanted), isTaken(base + 44, 'another program'))
})
