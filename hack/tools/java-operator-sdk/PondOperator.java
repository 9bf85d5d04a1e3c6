import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * An operator that owns the kind Pond, with what Java Operator SDK does by default. It makes a Fischer for each name
 * of a Pond's spec, owned by the Pond, and a warden that no one owns, which goes when the Pond does. KUBECONFIG names
 * the server.
 */
public final class PondOperator {
  /** What is wanted of a Pond. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public static class PondSpec {
    public List<String> fischers;
  }

  /** What is the case at a Pond. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public static class PondStatus {
    public Long observedGeneration;
    public Integer fischers;
    public List<Condition> conditions;
  }

  @Group("wardle.example.com")
  @Version("v1")
  public static class Pond extends CustomResource<PondSpec, PondStatus> {}

  /** Where a Fischer fishes. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public static class FischerSpec {
    public String pond;
  }

  @Group("wardle.example.com")
  @Version("v1")
  public static class Fischer extends CustomResource<FischerSpec, Void> {}

  @ControllerConfiguration
  public static class PondReconciler implements Reconciler<Pond>, Cleaner<Pond> {
    @Override
    public List<EventSource<?, Pond>> prepareEventSources(EventSourceContext<Pond> context) {
      return List.of(new InformerEventSource<Fischer, Pond>(
          InformerEventSourceConfiguration.from(Fischer.class, Pond.class).build(), context));
    }

    @Override
    public UpdateControl<Pond> reconcile(Pond pond, Context<Pond> context) {
      KubernetesClient client = context.getClient();
      client.resource(fischer("warden", pond)).serverSideApply();
      List<String> wanted = new ArrayList<>();
      for (String name : pond.getSpec().fischers) {
        Fischer fischer = fischer(name, pond);
        own(fischer, pond);
        client.resource(fischer).serverSideApply();
        wanted.add(fischer.getMetadata().getName());
      }
      context.getSecondaryResources(Fischer.class).stream()
          .filter(fischer -> !wanted.contains(fischer.getMetadata().getName()))
          .forEach(fischer -> client.resource(fischer).delete());
      return UpdateControl.patchStatus(withStatus(pond, wanted.size()));
    }

    @Override
    public DeleteControl cleanup(Pond pond, Context<Pond> context) {
      context.getClient().resource(fischer("warden", pond)).delete();
      return DeleteControl.defaultDelete();
    }
  }

  private static Fischer fischer(String name, Pond pond) {
    Fischer fischer = new Fischer();
    String full = pond.getMetadata().getName() + "-" + name;
    fischer.setMetadata(new ObjectMetaBuilder().withName(full).build());
    fischer.setSpec(new FischerSpec());
    fischer.getSpec().pond = pond.getMetadata().getName();
    return fischer;
  }

  private static void own(Fischer fischer, Pond pond) {
    fischer.addOwnerReference(new OwnerReferenceBuilder()
        .withApiVersion(pond.getApiVersion()).withKind(pond.getKind())
        .withName(pond.getMetadata().getName()).withUid(pond.getMetadata().getUid())
        .withController(true).withBlockOwnerDeletion(true).build());
  }

  /** Returns what is to be applied: the name and the status, and no field of others. */
  private static Pond withStatus(Pond pond, int fischers) {
    Pond applied = new Pond();
    applied.setMetadata(new ObjectMetaBuilder().withName(pond.getMetadata().getName()).build());
    PondStatus status = new PondStatus();
    status.observedGeneration = pond.getMetadata().getGeneration();
    status.fischers = fischers;
    status.conditions = List.of(new ConditionBuilder()
        .withType("Ready").withStatus("True").withReason("Fished").withMessage(fischers + " fish here")
        .withObservedGeneration(status.observedGeneration).withLastTransitionTime(readySince(pond)).build());
    applied.setStatus(status);
    return applied;
  }

  private static String readySince(Pond pond) {
    if (pond.getStatus() != null && pond.getStatus().conditions != null) {
      for (Condition condition : pond.getStatus().conditions) {
        if (condition.getType().equals("Ready")) return condition.getLastTransitionTime();
      }
    }
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  public static void main(String[] arguments) throws InterruptedException {
    Operator operator = new Operator();
    operator.register(new PondReconciler());
    operator.start();
    Thread.currentThread().join();
  }
}
