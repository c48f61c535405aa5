// The command lines of docs/guide/storage.md, run as they are written, on a started product. Only the token, the address
// and, as tests share a product, the names of buckets are others.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { product, sharedErgon } from '../product.ts'
import { STORAGE } from '../settings.ts'
import { missing, runClient } from './client-programs.ts'

const GUIDE = join(import.meta.dirname, '../../docs/guide/storage.md')
const ERGON = join(import.meta.dirname, '../../src/cli/ergon.mjs')
const PROGRAMS = ['aws', 's3cmd', 'restic', 'rclone', 'curl']

product(STORAGE)

const home = mkdtempSync(join(tmpdir(), 'ergon-guide-'))
before(() => {
  mkdirSync(join(home, 'bin'))
  symlinkSync(ERGON, join(home, 'bin/ergon'))
  for (const folder of ['holiday', 'work']) mkdirSync(join(home, folder))
  for (const name of ['holiday.jpg', 'upload.jpg', 'holiday/beach.jpg', 'work/notes.txt'])
    writeFileSync(join(home, name), `the file ${name}`)
})
after(() => rmSync(home, { recursive: true, force: true }))

/** The blocks of shell commands that have a text each, in the order of the guide. */
function blocksOf(texts: readonly string[]): string[] {
  const blocks = [...readFileSync(GUIDE, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
  const chosen = blocks
    .map(([, block = '']) => block)
    .filter((block) => texts.some((text) => block.includes(text)))
  assert.equal(chosen.length, texts.length, 'the guide has a block for each text')
  return chosen
}

/** Runs blocks in one shell that ends at the first failure; what it printed. */
async function runBlocks(texts: readonly string[], bucket: string): Promise<string> {
  const ergon = sharedErgon()
  const commands = blocksOf(texts)
    .join('')
    .replaceAll('svc_…', ergon.token)
    .replaceAll('localhost:8080', ergon.baseUrl.replace('http://', ''))
    .replaceAll(/\bphotos\b/g, bucket)
    .replaceAll(/\bbackups\b/g, `${bucket}-backups`)
  // A person's shell has no region, and curl of a test fails for an error page.
  const head = 'cd "$HOME"; unset AWS_DEFAULT_REGION; curl() { command curl -fsS "$@"; }; set -x\n'
  return await runClient(ergon, 'bash', ['-euo', 'pipefail', '-c', head + commands], {
    HOME: home,
    PATH: [join(home, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    TOKEN: ergon.token,
    ERGON_TOKEN: ergon.token,
    ERGON_BASE_URL: ergon.baseUrl,
    RESTIC_PASSWORD: 'a password of this test',
  })
}

const absent = PROGRAMS.map(missing).find((why) => why !== false) ?? false

test('the lines for other clients, addresses, websites and events', { skip: absent }, async () => {
  const texts = ['s3 mb s3://', 's3cmd --access_key', 'storage presign', 's3 website', '?events&']
  const said = await runBlocks(texts, 'guide-clients')
  assert.match(said, /s3:\/\/guide-clients$/m, 's3cmd lists the bucket')
  assert.match(said, /^created restic repository/m)
  assert.match(said, /"Records":\[/)
})

test('the lines of ergon storage', async () => {
  const said = await runBlocks(['ergon storage cp --recursive'], 'guide-own')
  assert.match(said, /2026\/beach\.jpg/)
})
