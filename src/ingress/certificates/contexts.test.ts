// The certificates that the ingress keeps while it asks the agent again.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { testCertificate } from '#ingress/certificate.fixture.ts'
import { serveAgent, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
import { quiet } from '#postgres/testing.ts'
import type { State } from '#state/connect.ts'
import { createContexts, followCertificates } from './contexts.ts'
import { createServedCertificates } from './served.ts'

test('a certificate that was removed while the agent was asked again is forgotten', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-contexts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const agent = { socketPath: join(folder, 'agent'), secret: 'secret' }
  const pair = testCertificate('gone')
  const none = createServedCertificates({ folders: [], state: {} as State, log: quiet })
  const requests: OpenRequest[] = []
  const server = await serveAgent(agent, (request) => {
    const isFirst = requests.push(request) === 1
    if (isFirst) request.say({ host: 'gone', pair })
    else none.follow(request)
  })
  t.after(() => server.close())
  const contexts = createContexts(quiet)
  const ending = new AbortController()
  t.after(() => ending.abort())
  const following = followCertificates(contexts, agent, { log: quiet, signal: ending.signal })
  const until = async (has: boolean) => {
    for (let nth = 0; (contexts.of('gone') !== undefined) !== has; nth++) {
      assert.ok(nth < 300, `it is ${has ? 'not ' : ''}there`)
      await pause(10)
    }
  }
  await until(true)
  requests[0]?.destroy()
  await until(false)
  ending.abort()
  await following
})

test('a folder of too many certificates is refused, not cut', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-contexts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.crt`), '')
  const given = { folders: [folder], state: {} as State, log: quiet, certificatesMax: 1 }
  const certificates = createServedCertificates(given)
  await assert.rejects(certificates.look(), /2 certificates: the most is 1/)
})
