// Rules of pages: links lead to files and headings that are there, named files exist, and paragraphs of decisions are short.
import { dirname, normalize } from 'node:path'
import type { Fault } from './tidy-contract.ts'

type Tree = {
  readonly exists: (path: string) => boolean
  readonly read: (path: string) => string
}

/** Every fault of a page of Markdown. */
export const pageFaults = (path: string, text: string, tree: Tree): Fault[] => [
  ...linkFaults(path, text, tree),
  ...(path.startsWith('docs/decisions') ? paragraphFaults(path, text) : []),
  ...(PAGES_OF_FILES.has(path) ? fileFaults(path, text, tree) : []),
]

const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length

/** Links of a page to files of this tree and to headings of pages; addresses are not followed. */
function linkFaults(path: string, text: string, { exists, read }: Tree): Fault[] {
  const faults: Fault[] = []
  for (const found of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
    const [, target = '', anchor] = found
    if (/^[a-z]+:/.test(target)) continue
    const page = target === '' ? path : normalize(`${dirname(path)}/${target}`)
    const line = lineOf(text, found.index)
    if (target !== '' && !exists(page))
      faults.push({ path, line, rule: `links to nothing: ${target}` })
    else if (anchor !== undefined && page.endsWith('.md')) {
      const headings = anchorsOf(page === path ? text : read(page))
      if (!headings.has(anchor))
        faults.push({ path, line, rule: `links to no heading: #${anchor}` })
    }
  }
  return faults
}

/** The anchors of the headings of a page. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

const PARAGRAPH_WORDS_MAX = 120

function paragraphFaults(path: string, text: string): Fault[] {
  return text.split('\n').flatMap((paragraph, index) => {
    const words = paragraph.split(/\s+/).length
    const rule = `a paragraph of ${words} words`
    return words > PARAGRAPH_WORDS_MAX ? [{ path, line: index + 1, rule }] : []
  })
}

/** Pages that tell readers the files of a subject. */
const PAGES_OF_FILES: ReadonlySet<string> = new Set([
  'acceptance/COVERAGE.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/finding.md',
])

/** Files that the page names without a link, from the root of the tree. */
function fileFaults(path: string, text: string, { exists }: Tree): Fault[] {
  return [...text.matchAll(/(?<![\w./])(?:test|acceptance|src|scripts)\/[\w./-]*\w/g)].flatMap(
    (found) =>
      exists(found[0])
        ? []
        : [{ path, line: lineOf(text, found.index), rule: `names no file: ${found[0]}` }],
  )
}
