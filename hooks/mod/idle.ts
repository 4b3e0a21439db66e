// The idle reminder's clock: one reminder an idle period; what it says, and whether, is the engine's.
// Function declarations, since the host follows `$` past an import into nothing else.
import type { EngineInterface, Timer } from 'claude-code'

import { asked } from './bridge.js'

/** What happens when a period is over: nothing, a line to the person, or a prompt to the agent, which starts a paid turn. */
type Mode = 'off' | 'notice' | 'prompt'

/** What holds until the engine has said what the settings are: its own defaults. */
const DEFAULTS: Readonly<{ mode: Mode; seconds: number }> = { mode: 'notice', seconds: 1_800 }

let settings = DEFAULTS
let timer: Timer | undefined

/** Counts everything that ends idleness, so that a reminder on its way can see that it comes too late. */
let wakes = 0

/** Whether this period had its reminder; a turn that the reminder itself started does not begin another one. */
let isReminded = false

const isMode = (value: unknown): value is Mode => value === 'off' || value === 'notice' || value === 'prompt'

/** Takes the settings as the engine read them. */
export function takeIdle(told: unknown): void {
  const { mode, seconds } = (told ?? {}) as Readonly<Record<string, unknown>>

  settings = {
    mode: isMode(mode) ? mode : DEFAULTS.mode,
    seconds: typeof seconds === 'number' && seconds > 0 ? seconds : DEFAULTS.seconds,
  }
}

/**
 * A prompt or a turn begins: nobody is idle.
 *
 * @param isOther - Whether somebody else than this plugin is at work: that ends the period.
 */
export function woken(isOther: boolean): void {
  wakes += 1
  timer?.cancel()
  timer = undefined
  if (isOther) {
    isReminded = false
  }
}

/** A turn has ended: a period begins, unless the reminder of this one was given already. */
export function idles($: EngineInterface): void {
  timer?.cancel()
  timer = undefined
  if (isReminded || settings.mode === 'off') {
    return
  }
  const since = wakes

  timer = $.clock.after(1_000 * settings.seconds, () => void reminded($, since).catch(() => undefined))
}

/** Gives the reminder, unless something happened in the meantime: real work wins. */
async function reminded($: EngineInterface, since: number): Promise<void> {
  if (since !== wakes || isReminded) {
    return
  }
  const said = await asked($, 'idle', {})
  const isLate = since !== wakes || isReminded

  if (isLate) {
    return
  }
  isReminded = true
  if (settings.mode === 'notice') {
    $.ui.log(String(said['notice']))
  } else if (settings.mode === 'prompt') {
    await $.prompt.submit({ text: String(said['reminder']) })
  }
}
