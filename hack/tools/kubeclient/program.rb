# Uses the API with Ruby's kubeclient, as its README says, and prints what it sees.
require 'kubeclient'

config = Kubeclient::Config.read(ARGV[0])
context = config.context
client = Kubeclient::Client.new(
  "#{context.api_endpoint}/apis/id.vestibule.org", 'v1beta1',
  ssl_options: context.ssl_options, auth_options: context.auth_options
)
made = client.create_group(Kubeclient::Resource.new(metadata: { name: 'kubeclient' }, spec: { displayName: 'First' }))
puts "listed #{client.get_groups.map { |one| one.metadata.name }.include?('kubeclient')}"
watcher = client.watch_groups(resource_version: made.metadata.resourceVersion)
thread = Thread.new do
  watcher.each do |notice|
    next unless notice.object.metadata.name == 'kubeclient'
    puts "#{notice.type} #{notice.object.spec.displayName}"
    watcher.finish
    break
  end
end
client.merge_patch_group('kubeclient', { spec: { displayName: 'Second' } })
thread.join(60)
client.delete_group('kubeclient')
core = Kubeclient::Client.new("#{context.api_endpoint}/api", 'v1', ssl_options: context.ssl_options, auth_options: context.auth_options)
puts "namespaces #{core.get_namespaces.map { |one| one.metadata.name }}"
