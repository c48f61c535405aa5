// A root folder as an image's, of programs of this machine and the libraries that they need.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `files` are written as they are: path inside → content. */
export function makeImageRoot(
  root: string,
  programs: readonly string[],
  files: Readonly<Record<string, string | Buffer>>,
): void {
  const libraries = programs.flatMap((program) => {
    const told = execFileSync('ldd', [program], { encoding: 'utf8' })
    return [...told.matchAll(/(\/\S+)/g)].map(([path]) => path)
  })
  for (const path of new Set([...programs, ...libraries])) {
    mkdirSync(join(root, dirname(path)), { recursive: true, mode: 0o755 })
    cpSync(realpathSync(path), join(root, path))
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true, mode: 0o755 })
    writeFileSync(join(root, path), content)
  }
}
