// The lines that the toy adds to the lists of products, and nothing else: a copy of the tree gets the toy's files and
// these lines.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const TOY = join(import.meta.dirname, 'files')

type Line = {
  readonly file: string
  readonly imports: string
  /** The end of the list; the entry goes before it. */
  readonly before: string
  readonly entry: string
}

const LINES: readonly Line[] = [
  {
    file: 'src/contract/operations.ts',
    imports: "import { TOY } from './toy/operations.ts'",
    before: '] as const\n',
    entry: '  TOY,\n',
  },
  {
    file: 'src/contract/descriptions.ts',
    imports: "import { TOY_DESCRIPTIONS } from './toy/descriptions.ts'",
    before: '}\n',
    entry: '  ...TOY_DESCRIPTIONS,\n',
  },
  {
    file: 'src/contract/errors.ts',
    imports: "import { TOY_ERRORS } from './toy/errors.ts'",
    before: '} as const satisfies ErrorTable',
    entry: '  ...TOY_ERRORS,\n',
  },
  {
    file: 'src/contract/events.ts',
    imports: "import { TOY_EVENTS } from './toy/events.ts'",
    before: '}\n',
    entry: '  ...TOY_EVENTS,\n',
  },
  {
    file: 'src/contract/control.ts',
    imports: "import { TOY_CONTROL } from './toy/control.ts'",
    before: '} satisfies',
    entry: '  ...TOY_CONTROL,\n',
  },
  {
    file: 'src/config/settings.ts',
    imports: "import { TOY_SETTINGS } from './settings/toy.ts'",
    before: '}\n\nexport type',
    entry: '  ...TOY_SETTINGS,\n',
  },
  {
    file: 'src/processes/schemas.ts',
    imports: "import { TOY_SCHEMA } from '#toy/schema.ts'",
    before: ']\n',
    entry: '  TOY_SCHEMA,\n',
  },
  {
    file: 'src/processes/products/gateway.ts',
    imports: "import { TOY_GATEWAY } from '#toy/gateway.ts'",
    before: ']\n',
    entry: '  TOY_GATEWAY,\n',
  },
  {
    file: 'src/processes/products/agent.ts',
    imports: "import { TOY_AGENT } from '#toy/agent.ts'",
    before: ']\n',
    entry: '  TOY_AGENT,\n',
  },
  {
    file: 'src/processes/products/tasks.ts',
    imports: "import { TOY_TASKS } from '#toy/tasks.ts'",
    before: ']\n',
    entry: '  TOY_TASKS,\n',
  },
  {
    file: 'src/cli/commands.ts',
    imports: "import { TOY_COMMANDS } from './command-lists/toy.ts'",
    before: ']\n\nexport const COMMANDS',
    entry: '  TOY_COMMANDS,\n',
  },
  {
    file: 'test/contract/matrix-rows.ts',
    imports: "import { TOY_ROWS } from './toy-rows.ts'",
    before: '}\n',
    entry: '  ...TOY_ROWS,\n',
  },
  { file: 'scripts/tidy.ts', imports: '', before: "  'status',\n", entry: "  'toy',\n" },
]

/** Other files that the copy needs: the configuration of the tree, and the inputs of its pages and rules. */
const COPIED = [
  'src',
  'scripts',
  'test',
  'acceptance',
  'examples/stablecoins',
  'portal/old-files.ts',
  'portal/src/parts/page/command-place.ts',
]
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'README.md']

/** Copies this tree to `folder`, below this tree's node_modules, and adds the toy. */
export function plantToy(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of [...COPIED, ...FILES])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  cpSync(TOY, folder, { recursive: true })
  for (const { file, imports, before, entry } of LINES) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    const at = text.lastIndexOf(before)
    if (at < 0) throw new TypeError(`The list of ${file} has another end`)
    const [header, rest] = headerOf(text.slice(0, at) + entry + text.slice(at))
    writeFileSync(path, `${header}${imports}\n${rest}`)
  }
}

/** The toy's files, from the root of a tree. */
export const toyFiles = (): string[] =>
  readdirSync(TOY, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^src\/.*\.(ts|sql)$/.test(name),
  )

/** The comment at the top, and what follows. */
function headerOf(text: string): readonly [string, string] {
  const end = /^(?!\/\/)/m.exec(text)?.index ?? 0
  return [text.slice(0, end), text.slice(end)]
}
