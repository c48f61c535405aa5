import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { readPair } from '#databases/certificate/pair.ts'
import { selfSigned } from '#databases/certificate/self-signed.ts'
import { quiet } from '#postgres/testing.ts'
import { createBackends } from './backends.ts'
import { createCancels } from './cancels.ts'
import { openCertificate } from './certificate.ts'
import { createConversations } from './converse.ts'
import { createFront } from './front.ts'
import { createLoginLimits } from './login-limits.ts'
import { createPipeMarks } from './pipe-marks.ts'
import { createUses } from './uses.ts'
import { startupMessage } from './wire.ts'

test('a client is told to try again while the state is away', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-front-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const certificate = openCertificate(readPair(await selfSigned(folder, 'localhost')))
  const cancels = createCancels({ number: 1, proxies: [], log: quiet })
  const away = () => Promise.reject(new TypeError('the state is away'))
  const uses = createUses({ wake: away, bill: away })
  const { server } = createFront({
    certificate: () => certificate,
    roleOf: away,
    cancels,
    conversations: createConversations({ backends: createBackends(), cancels, uses, log: quiet }),
    limits: createLoginLimits(systemClock),
    marks: createPipeMarks(),
    log: quiet,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1')
  client.write(startupMessage(new Map([['user', 'u']])))
  let told = ''
  for await (const chunk of client) told += String(chunk)
  assert.match(told, /C57P03\0/)
})
