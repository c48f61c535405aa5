// The sources as a package has them: without types and tests, since Node strips no types below node_modules. Names of
// files that end with .ts end with .js, in imports and wherever else a text names a file of the tree.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const TEST = /\.(test|fixture)\.[a-z]+$|(^|\/)testing(\/|[.-])/
/** A whole text between quotes that ends with .ts and has a folder. */
const NAMED = /(['"])([#\w.-]*\/[\w./-]+)\.ts\1/g

type PackedFile = { readonly path: string; readonly text: string | Buffer }

/** All files of a folder of sources; paths are relative to it. */
export function packedSources(folder: string): PackedFile[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  return names
    .filter((name) => !TEST.test(name))
    .map((name) => {
      const path = join(folder, name)
      if (/\.d\.m?ts$/.test(name) || !/\.m?[jt]s$/.test(name))
        return { path: name, text: readFileSync(path) }
      const text = readFileSync(path, 'utf8')
      const plain = name.endsWith('.ts') ? stripTypeScriptTypes(text) : text
      return {
        path: name.replace(/\.ts$/, '.js'),
        text: renamed(plain, (named) => isFileOf(folder, dirname(path), named)),
      }
    })
}

/** The text with each name of a .ts file for which `isFile` as one of a .js file. */
export const renamed = (text: string, isFile: (named: string) => boolean): string =>
  text.replaceAll(NAMED, (all, quote: string, name: string) =>
    isFile(`${name}.ts`) ? `${quote}${name}.js${quote}` : all,
  )

/** Named from the root of the sources, with or without #, or from the file's own folder. */
const isFileOf = (root: string, own: string, named: string): boolean =>
  existsSync(join(root, named.replace(/^#/, ''))) || existsSync(join(own, named))
