// Functions that run in the browser, whose types the other tests do not have.

/**
 * Elements that a screen reader could not name.
 *
 * @param {readonly Element[]} all
 */
export function namelessOf(all) {
  return all
    .filter((element) => {
      const labels =
        'labels' in element ? /** @type {NodeListOf<Element> | null} */ (element.labels) : null
      const words = [element.getAttribute('aria-label'), element.textContent]
      for (const label of labels ?? []) words.push(label.textContent)
      return words.every((word) => !word?.trim())
    })
    .map(({ outerHTML }) => outerHTML)
}

/** @param {readonly Element[]} links */
export function hrefsOf(links) {
  return links.map((link) => link.getAttribute('href'))
}

/** @param {readonly Element[]} all */
export function titlesOf(all) {
  return all.map((element) => element.getAttribute('title'))
}

/** @param {Element} element */
export function tagOf(element) {
  return element.tagName
}

/** @param {Element} element */
export function groundOf(element) {
  return getComputedStyle(element).backgroundColor
}

/** @param {Element} element */
export function widthOf(element) {
  return element.scrollWidth
}

/** @returns {Promise<number>} jobs that were submitted in the last hour */
export async function submittedLately() {
  const { buckets } = await (await fetch('api/v1/history')).json()
  return buckets.reduce(
    (/** @type {number} */ sum, /** @type {{ submitted: number }} */ bucket) =>
      sum + bucket.submitted,
    0,
  )
}

/**
 * Elements that are wider than what is seen of them: if that is marked, and keys can scroll it.
 *
 * @param {readonly Element[]} all
 * @returns {readonly ('marked' | 'unmarked')[]}
 */
export function scrollersOf(all) {
  return all
    .filter((element) => element.scrollWidth > element.clientWidth + 1)
    .map((element) => {
      const isMarked = element.closest('[data-more~="right"]') !== null
      return isMarked && element.getAttribute('tabindex') === '0' ? 'marked' : 'unmarked'
    })
}
