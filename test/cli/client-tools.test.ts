// Programs of PATH stand in for those of other releases: scripts that print their version, or what they were started with.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { CLIENT_TOOLS } from '#contract/databases/client-tools.ts'
import { demandDone, findTool, startTool } from '#cli/client-tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-tools-'))
// No data folder of the clone is found.
process.env['ERGON_DATA'] = folder
after(() => {
  rmSync(folder, { recursive: true })
})
const FAR = 'postgresql://me:secret@db.example/notes'

/** Puts a program alone on PATH, whose body runs after `--version` was answered. */
function install(name: string, version: string, body = ''): void {
  const bin = mkdtempSync(join(folder, 'bin-'))
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo "${name} (PostgreSQL) ${version}" && exit\n${body}\n`
  writeFileSync(join(bin, name), script, { mode: 0o755 })
  process.env['PATH'] = bin
}

test('pg_dump and pg_restore must be of 16 or later, and the way to get one is said', async () => {
  for (const name of ['pg_dump', 'pg_restore'] as const) {
    install(name, '15.18 (Debian 15.18-0+deb12u1)')
    await assert.rejects(findTool({}, name, FAR), {
      message: new RegExp(`The ${name} of this machine will not do: .* 15\\.18 .*16 or later`),
      next: /postgresql-client-16.*Debian 12 has 15.*machine of the service with --data <folder>/,
    })
    install(name, '16.14')
    assert.equal((await findTool({}, name, FAR)).program, name)
  }
  install('psql', '15.18')
  await findTool({}, 'psql', FAR)
  await assert.rejects(findTool({}, 'pg_dump', FAR), { message: /There is no pg_dump/ })
})

test('the programs of a data folder are for this machine, where TLS is not asked for', async () => {
  const tools = join(folder, 'data/postgres/16.14-x', CLIENT_TOOLS)
  mkdirSync(tools, { recursive: true })
  writeFileSync(join(tools, 'pg_dump'), '')
  writeFileSync(join(folder, 'data/ergon.json'), '{}')
  writeFileSync(join(folder, 'data/postgres/install.json'), '{"rung":"managed","tree":"16.14-x"}')
  install('pg_dump', '17.2')
  const programFor = async (address: string) =>
    (await findTool({ data: join(folder, 'data') }, 'pg_dump', address)).program
  for (const host of ['localhost', '127.0.0.2:5433', '[::1]'])
    assert.equal(
      await programFor(`postgresql://me@${host}/x?sslmode=require`),
      join(tools, 'pg_dump'),
    )
  for (const address of [
    FAR,
    'postgresql://localhost/x?sslmode=verify-full',
    'postgresql://localhost/x?channel_binding=require',
  ])
    assert.equal(await programFor(address), 'pg_dump', address)
})

/** The arguments and the password that a program is started with. */
async function started(address: string): Promise<string> {
  install('psql', '16.1', 'echo "$2 $PGPASSWORD"')
  const tool = startTool(await findTool({}, 'psql', address), [], ['ignore', 'pipe', 'inherit'])
  assert.ok(tool.process.stdout)
  const [text] = await Promise.all([textOf(tool.process.stdout), demandDone(tool)])
  return text.trim()
}

test('an address reaches libpq with every parameter, and its password by the environment alone', async () => {
  const addresses: Readonly<Record<string, string>> = {
    'postgresql://me:s%20e@db.example:1/x?sslmode=verify-full&sslrootcert=/a%20b+c&options=-c%20a%3Db':
      'postgresql://me@db.example:1/x?sslmode=verify-full&sslrootcert=/a%20b+c&options=-c%20a%3Db s e',
    'postgres://me:p@[fe80::1]:5/x?channel_binding=require':
      'postgres://me@[fe80::1]:5/x?channel_binding=require p',
    'postgresql://me@db.example/x?password=a%26b&sslmode=require':
      'postgresql://me@db.example/x?sslmode=require a&b',
    'postgresql://[::1]/x?sslmode=require': 'postgresql://[::1]/x?sslmode=prefer',
    'postgresql:///x?host=/run/pg': 'postgresql:///x?host=/run/pg',
  }
  for (const [address, wanted] of Object.entries(addresses))
    assert.equal(await started(address), wanted)
  for (const none of ['notes', 'mysql://a/b', 'postgresql://a/b?sslpassword=x'])
    await assert.rejects(findTool({}, 'psql', none), { exitCode: 2 }, none)
})
