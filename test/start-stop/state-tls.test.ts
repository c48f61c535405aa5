// TLS to a state of DATABASE_URL, by the modes of libpq, on a real server that takes nothing else.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { quiet, whyNoServer } from '#postgres/testing.ts'
import { addressOfUrl } from '#state/address-of-url.ts'
import { connectState } from '#state/connect.ts'
import { startTlsState } from '../external-state.ts'

const hasNoOpenssl = spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed'

test(
  'a state is reached with TLS as its URL demands',
  { skip: whyNoServer() || hasNoOpenssl },
  async (t) => {
    await using server = await startTlsState()
    const { url, certificate } = server
    // The same address as a name, which the certificate does not have.
    const byName = url.replace('@127.0.0.', '@127.')

    async function isEncrypted(text: string, of = url): Promise<unknown> {
      const address = addressOfUrl(`${of}?${text.replace('CERT', certificate)}`)
      await using state = connectState({ address, connections: 1, log: quiet })
      const { rows } = await state.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      return rows[0]?.['ssl']
    }

    for (const text of [
      'sslmode=verify-full&sslrootcert=CERT',
      'sslrootcert=CERT',
      'sslmode=verify-ca&sslrootcert=CERT',
      'sslmode=require&sslrootcert=CERT',
      'sslmode=require',
    ])
      await t.test(text, async () => assert.equal(await isEncrypted(text), true))

    await t.test('another name, which verify-ca does not look at', async () => {
      assert.equal(await isEncrypted('sslmode=verify-ca&sslrootcert=CERT', byName), true)
      await assert.rejects(
        isEncrypted('sslmode=verify-full&sslrootcert=CERT', byName),
        /does not match certificate's altnames/,
      )
    })

    const refused: [text: string, why: RegExp][] = [
      ['sslmode=verify-full', /self-signed certificate/],
      ['sslmode=verify-full&sslrootcert=system', /self-signed certificate/],
      ['sslmode=disable', /no encryption/],
      ['', /no encryption/],
      ['sslmode=prefer', /sslmode is one of disable, require, verify-ca, verify-full: prefer$/],
      ['sslmode=verify-full&sslrootcert=/none', /sslrootcert cannot be read: ENOENT.*\/none/],
    ]
    for (const [text, why] of refused)
      await t.test(`${text} is refused`, () =>
        assert.rejects(isEncrypted(text), (error: unknown) => {
          assert.ok(error instanceof Error)
          const cause = error instanceof ErgonError ? (error.cause ?? error) : error
          assert.match(`${error.message} ${String(cause)}`, why)
          assert.doesNotMatch(error.message, new RegExp(server.server.superuser.password))
          return true
        }),
      )
  },
)
