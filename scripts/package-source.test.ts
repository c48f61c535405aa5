// The sources of a package: each name of a file leads to one, and each package that they import is one of `dependencies`.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packedSources, renamed } from './package-source.ts'

const ROOT = join(import.meta.dirname, '..')
const IMPORT = /(?:^import |^(?:import|export|\}) ?[^'"]*? from |\bimport\()(['"])([^'"\n]+)\1/gm

const files = packedSources(join(ROOT, 'src'))
const modules = files.filter(({ path }) => /\.m?js$/.test(path))
const paths = new Set(files.map(({ path }) => path))

/** All imported names, static and dynamic. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(IMPORT)].map(([, , name = '']) => name)

test('names of files of the tree end with .js; other texts stay', () => {
  const isFile = (name: string) => name === '#base/clock.ts'
  assert.equal(
    renamed(`import '#base/clock.ts'; const a = "src/hello.ts"; const b = '.ts'`, isFile),
    `import '#base/clock.js'; const a = "src/hello.ts"; const b = '.ts'`,
  )
})

test('a package has no test, and no types but those that it exports', () => {
  assert.deepEqual(
    [...paths].filter((path) => /\.(test|fixture)\.|\.ts$/.test(path)),
    [],
  )
  assert.ok(paths.has('main.js') && paths.has('webhooks/verifier.d.mts'))
})

test('every import of a package leads to one of its files, or to a dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const lost = modules.flatMap(({ path, text }) =>
    importsOf(text.toString()).flatMap((name) => {
      if (name.startsWith('#')) return paths.has(name.slice(1)) ? [] : [`${path}: ${name}`]
      if (name.startsWith('.'))
        return paths.has(join(dirname(path), name)) ? [] : [`${path}: ${name}`]
      const [scope = '', rest] = name.split('/')
      const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope
      return isBuiltin(name) || packageName in dependencies ? [] : [`${path}: ${name}`]
    }),
  )
  assert.deepEqual(lost, [])
})
