import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Uses the API by an informer, as Java's operators do, and prints what it sees. */
public final class Program {
  private static final BlockingQueue<String> SEEN = new LinkedBlockingQueue<>();

  private static String describe(GenericKubernetesResource object) {
    Map<?, ?> spec = (Map<?, ?>) object.getAdditionalProperties().get("spec");
    return object.getMetadata().getName() + " " + spec.get("displayName");
  }

  private static GenericKubernetesResource group(String name, String displayName) {
    GenericKubernetesResource object = new GenericKubernetesResource();
    object.setApiVersion("id.vestibule.org/v1beta1");
    object.setKind("Group");
    object.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName(name).build());
    object.setAdditionalProperty("spec", Map.of("displayName", displayName));
    return object;
  }

  private static void next() throws InterruptedException {
    System.out.println(SEEN.poll(60, TimeUnit.SECONDS));
  }

  public static void main(String[] arguments) throws Exception {
    Config config = Config.fromKubeconfig(Files.readString(Path.of(arguments[0])));
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      ResourceDefinitionContext kind = new ResourceDefinitionContext.Builder()
          .withGroup("id.vestibule.org").withVersion("v1beta1").withKind("Group").withPlural("groups")
          .withNamespaced(false).build();
      MixedOperation<GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>> groups =
          client.genericKubernetesResources(kind);
      groups.resource(group("fabric8", "First")).create();
      System.out.println("listed " + groups.list().getItems().size());
      try (SharedIndexInformer<GenericKubernetesResource> informer =
          groups.inform(new ResourceEventHandler<GenericKubernetesResource>() {
            @Override
            public void onAdd(GenericKubernetesResource object) {
              SEEN.add("added " + describe(object));
            }

            @Override
            public void onUpdate(GenericKubernetesResource old, GenericKubernetesResource object) {
              SEEN.add("updated " + describe(object));
            }

            @Override
            public void onDelete(GenericKubernetesResource object, boolean unknown) {
              SEEN.add("deleted " + describe(object));
            }
          })) {
        next();
        String idleSeconds = System.getenv().getOrDefault("VESTIBULE_IDLE_SECONDS", "0");
        Thread.sleep((long) (1000 * Double.parseDouble(idleSeconds)));
        groups.withName("fabric8").edit(object -> {
          object.setAdditionalProperty("spec", Map.of("displayName", "Second"));
          return object;
        });
        next();
        groups.withName("fabric8").delete();
        next();
        System.out.println("watching " + informer.isWatching());
      }
    }
  }
}
