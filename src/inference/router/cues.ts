// The words that say which kind of work a text asks for, in English, German, French, Spanish and Chinese:
// the scorer's data. A word with "!" counts only where a sentence begins with it ("list the …", not "my
// list"). Words that mean something else in another of these languages are left out (German "was").

/** The words of each tier, from the lowest: lookup, extraction, aggregation, reasoning. */
const WORDS = [
  `what who whose where when capital define definition meaning spell weather time date synonym antonym
  call! set play remind turn convert stand stands mean means named inventor founded born
  wer wo wann wie heißt hauptstadt bedeutet qui quand où quel quelle capitale signifie
  quién cuándo dónde cuál significa 什么 哪里 哪个 在哪 是谁 几点`,

  `extract find identify according passage context document quote label tag classify category categories translate
  translation field fields json csv correct fix grammar spelling proofread rephrase paraphrase rewrite
  reformat format normalise normalize tense polite politely formal shorter simpler sort alphabetical
  alphabetically duplicates keywords sentiment spam intent language mentioned mention mentions
  transliterate uppercase lowercase copy! replace subject signature convert only
  extrahiere extrahieren übersetze übersetzen korrigiere nenne finde markiere klassifiziere gib
  extrais extraire traduis traduire traduisez corrige corrigez classe
  extrae extraer traduce traduzca traducir clasifica identifica 翻译 提取 抽取 分类 纠正 改写`,

  `total sum average mean median count counts percentage percent ratio trend trends compare comparison
  summarize summarise summary summaries aggregate highest lowest maximum minimum increase decrease change!
  changed difference differences overall overview group! rank merge combine common versus vs both
  write draft compose describe explain create! generate suggest! list! outline! story poem essay email
  letter speech post! article blog ideas names menu quiz questions pros cons advantages disadvantages
  tl history introduction intro conclusion report! press work works causes consequences symptoms
  schreibe verfasse fasse zusammen zusammenfassung überblick übersicht unterschied unterschiede vorteile
  nachteile erkläre beschreibe erstelle durchschnitt summe vergleiche
  résume résumez résumé rédige écris écrivez décris explique compare différence avantages moyenne
  resume resumen escribe redacta describe compara diferencia ventajas promedio crea haz
  总结 概括 介绍 写一 比较 平均 一共 解释 列出 描述`,

  `prove proof proves derive derivation theorem why reason reasoning deduce infer infers implies implement
  implementing refactor debug optimize optimise algorithm plan! design designs architecture migrate
  migration function code program script query solve solves equation integral integrate derivative
  differentiate probability chance likely expected justify evaluate analyze analyse analysis assess
  weigh argue argument argues convince suppose assume assuming therefore twice thrice half remaining
  reverse risk risks strategy tradeoff tradeoffs dilemma paradox riddle puzzle prime factor factorial
  fallacy logic logically rational dominant incentives mechanism complexity scalable scale latency
  consistency concurrency deadlock bottleneck older younger taller heavier faster youngest oldest
  meet catch wrong plausible intentionally slow fails failed failing crash crashes fixes error exception
  bug bugs review! python javascript typescript java rust golang sql regex bash kubernetes docker
  dockerfile react postgres kubectl
  beweise beweis warum weshalb wieso begründe löse berechne funktion entwirf analysiere bewerte
  wahrscheinlichkeit gleichung doppelt algorithmus
  prouve prouver démontre démontrer pourquoi résous calcule fonction conçois évalue justifie implique
  probabilité équation double triple algorithme
  demuestra demostrar porqué resuelve calcula función diseña analiza evalúa justifica probabilidad
  ecuación doble algoritmo
  证明 为什么 为何 如何 推导 计算 求解 设计 分析 函数 算法 代码 多少 概率 方程 优化 几个`,
] as const

/** Two words that only together say something, by tier. */
const WORD_PAIRS = [
  'stand for|how old|how tall|how far',
  'yes or|make this|which language|in this|from this|is this',
  'how does|how did|how has|main points|me about|what are|sum up|by how|the difference',
  'trade off|trade offs|step by|should we|should i|should you|what if|am i|comes next|come next|how would|' +
    'how should|how could|how can|do we|not belong|it follow|limit of|must be|at least|what happens|what happened|what will|' +
    'each other|por qué|what could|what should|going on|walk me|best way|many ways',
] as const

export type CueTiers = readonly (0 | 1 | 2 | 3)[]

const words = (text: string): readonly string[] => text.split(/\s+/)

/** A word may stand in two tiers: then it speaks for both. */
function tiersOf(byTier: readonly (readonly string[])[]): ReadonlyMap<string, CueTiers> {
  const found = new Map<string, CueTiers>()
  for (const tier of [0, 1, 2, 3] as const)
    for (const cue of byTier[tier] ?? []) found.set(cue, [...(found.get(cue) ?? []), tier])
  return found
}

const CUES = tiersOf(WORDS.map(words))
const PAIRS = tiersOf(WORD_PAIRS.map((pairs) => pairs.split('|')))

/** A sentence may have these before the verb that it begins with. */
const OPENINGS = words(
  'please can could would you pls hey hi hello ok so now then i we need want me to the bitte',
)
const CONDITIONS = words('if suppose assume assuming wenn falls angenommen supongamos')
const QUANTIFIERS = words(
  `all every each some none no any most both neither only alle jeder jede einige kein keine
  tous toutes chaque aucun aucune todos todas cada ningún ninguno`,
)
const NUMBER_WORDS = words(
  `two three four five six seven eight nine ten twelve dozen half twice third quarter zwei drei vier fünf
  sechs doppelt deux trois quatre cinq double triple dos tres cuatro cinco`,
)

/** All that is known of a word: one look-up for each word of a text. */
export type Word = {
  cues?: CueTiers
  /** Where a sentence begins with it. */
  openingCues?: CueTiers
  /** The cues of pairs of words, by the second word. */
  readonly pairs: Map<string, CueTiers>
  isOpening?: boolean
  isCondition?: boolean
  isQuantifier?: boolean
  isNumber?: boolean
}

/** Chinese words have two ideograms each. */
export const LEXICON: ReadonlyMap<string, Word> = createLexicon()

function createLexicon(): Map<string, Word> {
  const lexicon = new Map<string, Word>()
  const of = (text: string): Word => {
    const known = lexicon.get(text) ?? { pairs: new Map<string, CueTiers>() }
    lexicon.set(text, known)
    return known
  }
  for (const [text, tiers] of CUES)
    if (text.endsWith('!')) of(text.slice(0, -1)).openingCues = tiers
    else of(text).cues = tiers
  for (const [pair, tiers] of PAIRS) {
    const [first = '', second = ''] = pair.split(' ')
    of(first).pairs.set(second, tiers)
  }
  for (const text of OPENINGS) of(text).isOpening = true
  for (const text of CONDITIONS) of(text).isCondition = true
  for (const text of QUANTIFIERS) of(text).isQuantifier = true
  for (const text of NUMBER_WORDS) of(text).isNumber = true
  return lexicon
}

const GREETINGS: ReadonlySet<string> = new Set(
  words(
    `hi hey hello hallo hola bonjour salut thanks thank thx cheers morning night evening bye goodbye danke
    merci gracias tag 你好 谢谢`,
  ),
)
const FILLERS: ReadonlySet<string> = new Set(
  words('you so much very a lot ok okay cool great good nice perfect there guten'),
)
const COURTESY_LENGTH_MAX = 40

/** True for a text that is a greeting or thanks and nothing else. "Yes, please" may answer a hard question. */
export function isCourtesy(text: string): boolean {
  if (text.length > COURTESY_LENGTH_MAX) return false
  const said = text
    .toLowerCase()
    .split(/[\s.,!?]/)
    .filter((word) => word !== '')
  return (
    said.some((word) => GREETINGS.has(word)) &&
    said.every((word) => GREETINGS.has(word) || FILLERS.has(word))
  )
}
