/** A changed copy of a document that stays as it is: each container is copied once, when it is first changed. */
export class Draft {
  readonly #copies = new Set<object>();

  /** The node itself if it is a copy already, else a copy to put in its place. */
  own<Node extends object>(node: Node): Node {
    if (this.#copies.has(node)) return node;
    const copy = (Array.isArray(node) ? [...(node as unknown[])] : { ...node }) as Node;
    this.#copies.add(copy);
    return copy;
  }
}
