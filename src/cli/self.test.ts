// `ergon self install` in a home of its own: what it writes, what it leaves, and what its command finds.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['base', 'cli', 'contract', 'tlog']

/** A clone with a command line and the packages of this one, in a folder whose name needs quotes; and a home. */
function newClone(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-self-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [clone, home] = [join(folder, "a user's clone"), join(folder, 'home')]
  mkdirSync(home)
  for (const name of FOLDERS)
    cpSync(join(ROOT, 'src', name), join(clone, 'src', name), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(clone, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  return { clone, home, command: join(home, '.local/bin/ergon') }
}

type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs a program in the home, without a Node.js on PATH. */
const runIn = (
  home: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) =>
  new Promise<Outcome>((resolve) => {
    const [file = '', ...rest] = words
    const options = { cwd: home, env: { HOME: home, PATH: '/usr/bin:/bin', ...env } }
    execFile(file, rest, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

test('self install writes a command that runs on the pinned Node and finds the clone’s service', async (t) => {
  const { clone, home, command } = newClone(t)
  const self = (...words: string[]) =>
    runIn(home, [process.execPath, join(clone, 'src/cli/ergon.mjs'), 'self', ...words])
  for (let times = 0; times < 2; times++) {
    const { code, stdout, stderr } = await self('install', '--json')
    assert.equal(code, 0, stderr)
    const said = JSON.parse(stdout) as { command: string; on_path: boolean; to_add: string[] }
    assert.deepEqual([said.command, said.on_path], [command, false])
    assert.match(said.to_add[0] ?? '', /export PATH=.*\.local\/bin/)
  }
  const { stderr: told } = await self('install')
  assert.match(told, /\.local\/bin is not on PATH\nadd once, .*:\n {2}echo 'export PATH=/)
  assert.match((await runIn(home, [command, '--version'])).stdout, /^\d+\.\d+\.\d+\n$/)

  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end('{"data":[]}')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const dataFolder = (folder: string) => {
    mkdirSync(folder)
    writeFileSync(join(folder, 'ergon.json'), JSON.stringify({ port, runFolder: folder }))
  }
  const env = { ERGON_TOKEN: `svc_${'a'.repeat(38)}` }
  const list = [command, 'models', 'list', '--json']
  assert.equal((await runIn(home, list, env)).code, 4, 'no service is known')
  dataFolder(join(clone, '.ergon'))
  assert.deepEqual(await runIn(home, list, env), { code: 0, stdout: '[]\n', stderr: '' })
  assert.deepEqual(asked, ['/v1/models'])
  // The caller's option wins, also where its folder is absent.
  const nowhere = await runIn(home, list, { ...env, ERGON_DATA: join(home, 'none') })
  assert.match(nowhere.stderr, /No data folder of a service: .*none/)
  dataFolder(join(home, 'other'))
  rmSync(join(clone, '.ergon'), { recursive: true })
  assert.equal((await runIn(home, list, { ...env, ERGON_DATA: join(home, 'other') })).code, 0)

  assert.equal((await self('uninstall')).code, 0)
  assert.ok(!existsSync(command))
  assert.match((await self('uninstall')).stderr, /nothing of ours is at /)
})

test('self install advises the user’s own shell only, and says what completion in bash needs', async (t) => {
  const { clone, home } = newClone(t)
  const tools = join(home, 'tools')
  mkdirSync(tools)
  for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(join(tools, shell), '')
  const said = async (shell: string) => {
    const words = [process.execPath, join(clone, 'src/cli/ergon.mjs'), 'self', 'install']
    return (await runIn(home, words, { SHELL: shell, PATH: `${tools}:/usr/bin:/bin` })).stderr
  }
  const inBash = await said('/bin/bash')
  assert.match(inBash, /completion in bash needs the package bash-completion/)
  assert.doesNotMatch(inBash, /zshrc|fish_add_path/)
  const inZsh = await said('/bin/zsh')
  assert.match(inZsh, /fpath=/)
  assert.doesNotMatch(inZsh, /needs the package/)
})

test('self install prints a line for PATH that can be pasted, whatever the folder is called', async (t) => {
  const { clone, home } = newClone(t)
  const odd = join(home, `it's $(touch ${join(home, 'ran')}) "odd"`)
  const words = [process.execPath, join(clone, 'src/cli/ergon.mjs'), 'self', 'install']
  const { stdout } = await runIn(home, [...words, '--dir', odd, '--json'], { SHELL: '/bin/bash' })
  const [line = ''] = (JSON.parse(stdout) as { to_add: string[] }).to_add
  await runIn(home, ['/bin/sh', '-c', line])
  const { stdout: path } = await runIn(home, ['/bin/sh', '-c', '. ~/.bashrc; printf %s "$PATH"'])
  assert.equal(path, `${odd}:/usr/bin:/bin`)
  assert.ok(!existsSync(join(home, 'ran')))
})

test('self install leaves what somebody else wrote, and so does self uninstall', async (t) => {
  const { clone, home, command } = newClone(t)
  const run = (...words: string[]) =>
    runIn(home, [process.execPath, join(clone, 'src/cli/ergon.mjs'), 'self', ...words])
  const elsewhere = join(home, 'elsewhere')
  writeFileSync(elsewhere, 'theirs')
  mkdirSync(join(home, '.local/bin'), { recursive: true })
  for (const plant of [
    () => writeFileSync(command, 'theirs'),
    () => symlinkSync(elsewhere, command),
    () => symlinkSync(join(home, 'nowhere'), command),
  ]) {
    plant()
    const refused = await run('install')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /Another program has this name, and stays: .*--dir/s)
    await run('uninstall')
    assert.equal(readFileSync(elsewhere, 'utf8'), 'theirs')
    rmSync(command)
  }
  const other = join(home, 'tools')
  assert.equal((await run('install', '--dir', other)).code, 0)
  assert.equal((await runIn(home, [join(other, 'ergon'), '--version'])).code, 0)
})
