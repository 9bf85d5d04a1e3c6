/** Returns a member of an object, for a proxy in front of it; a method stays bound to the object. */
export function memberOf(target: object, name: string | symbol): any {
  const member: unknown = Reflect.get(target, name);
  return typeof member === 'function' ? member.bind(target) : member;
}
