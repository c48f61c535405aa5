// ergon login and logout: a person approves the token at the portal, by the browser that comes back to this machine or by a
// code that is typed.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signUpSoftly, type PortalClient } from './client.ts'

product(PLAIN)

const folder = mkdtempSync(join(tmpdir(), 'ergon-login-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let ada: PortalClient
before(async () => {
  ada = newClient(sharedErgon())
  await signUpSoftly(ada, { name: 'command-line' })
})

/** Starts `ergon …`; `said` resolves with the first match in what it says to people. */
function start(...words: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ERGON_BASE_URL: sharedErgon().baseUrl,
      XDG_CONFIG_HOME: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const reader = createInterface({ input: child.stderr })
  reader.on('line', (line) => lines.push(line))
  const ended = once(child, 'exit')
  return {
    async said(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null)
        if (found !== undefined) return found[1] ?? found[0]
        await Promise.race([once(reader, 'line'), ended.then(() => assert.fail(lines.join('\n')))])
      }
    },
    async end(): Promise<{ code: number | null; stderr: string }> {
      const [code] = (await ended) as [number | null]
      return { code, stderr: lines.join('\n') }
    },
  }
}

const stored = () => existsSync(join(folder, 'ergon', 'credentials.json'))

async function logout(): Promise<string> {
  const { code, stderr } = await start('logout').end()
  assert.equal(code, 0, stderr)
  assert.ok(!stored())
  return stderr
}

test('ergon login --browser gets a token that the browser of this machine has brought', async () => {
  const login = start('login', '--browser', '--scope', 'billing-admin')
  const id = await login.said(/approve\?login=(login_\w+)/)
  const shown = await ada.must(200, 'GET', `/v1/logins/${id}`)
  assert.equal(await login.said(/compare the code ([A-Z]{4}-[A-Z]{4})/), shown['user_code'])
  assert.equal(shown['scope'], 'billing-admin')
  const approved = await ada.must(200, 'POST', `/v1/logins/${id}/approve`, {
    scope: 'billing-admin',
  })
  const redirect = new URL(String(approved['redirect_url']))
  // Another page of this machine asks first, with a state of its own.
  const forged = new URL(redirect)
  forged.searchParams.set('state', 'a'.repeat(22))
  assert.equal((await fetch(forged)).status, 404)
  const answer = await fetch(redirect)
  assert.equal(answer.status, 200)
  assert.match(await answer.text(), /close this page/)
  const { code, stderr } = await login.end()
  assert.equal(code, 0, stderr)
  const whoami = await start('balance').end()
  assert.equal(whoami.code, 0, whoami.stderr)
  const tokens = (await ada.must(200, 'GET', '/v1/tokens'))['data'] as {
    name: string
    status: string
  }[]
  assert.match(tokens[0]?.name ?? '', /^command line on /)
  assert.match(await logout(), /The token is revoked/)
  const after = (await ada.must(200, 'GET', '/v1/tokens'))['data'] as { status: string }[]
  assert.equal(after[0]?.status, 'revoked')
})

test('ergon login --device waits until the code is approved elsewhere', async () => {
  const login = start('login', '--device')
  const code = await login.said(/type this code: ([A-Z]{4}-[A-Z]{4})/)
  await ada.must(200, 'POST', `/v1/logins/${code}/approve`, { scope: 'read' })
  const { code: exit, stderr } = await login.end()
  assert.equal(exit, 0, stderr)
  assert.ok(stored())
  // Of whatever scope, a token may end itself.
  assert.match(await logout(), /The token is revoked/)
})

test('ergon logout without a stored token says so', async () => {
  const { code, stderr } = await start('logout').end()
  assert.equal(code, 4)
  assert.match(stderr, /No token of `ergon login` is stored/)
})
